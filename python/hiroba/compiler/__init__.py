"""hirobacc: a C compiler driver that also reads MpC and SMint. See docs/hirobacc.md.

driver.py runs the user's C compiler; source.py holds preprocessed text and where it came from; notation.py finds what
is Hiroba's; shared.py, directives.py and loops.py rewrite it; affine.py reads subscripts."""
