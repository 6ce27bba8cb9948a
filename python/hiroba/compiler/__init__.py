"""hirobacc: a C compiler driver that also reads MpC and SMint. See docs/hirobacc.md.

driver.py runs the user's C compiler; source.py holds preprocessed text and where it came from; notation.py finds what
is Hiroba's; shared.py and directives.py rewrite it; loops.py and affine.py read
subscripts, and independence.py what may be done at once."""
