"""SMint: C with #pragma SMint. Each directive is a function, and a line in notation.py."""
