"""Common to all notations: text and its origin, the parsed C, shared declarations, the operations of statements and
loops, and the interface of a notation."""
