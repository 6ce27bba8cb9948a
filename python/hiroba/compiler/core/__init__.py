"""What all notations share: text and where it came from, the C that is parsed, shared declarations, what statements
and loops say, and what a notation is."""
