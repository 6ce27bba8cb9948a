"""Reports of runs (hirobarun --report): advice, the page, and comparisons."""
