"""Tasks that name the data they use: #pragma hiroba. Each directive is a function, and a line in notation.py."""
