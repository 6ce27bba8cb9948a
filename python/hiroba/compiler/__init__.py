"""hirobacc: a C compiler driver that also reads MpC, SMint and XcalableMP's coarrays. See docs/hirobacc.md.

driver.py runs the user's C compiler; source.py holds preprocessed text and where it came from; notation.py and
sections.py find what is Hiroba's, and declared.py what C declares. shared.py and directives.py rewrite MpC and SMint;
loops.py and affine.py read subscripts, and independence.py what may be done at once. coarrays.py declares coarrays,
references.py reads what stands behind their names, lowering.py and arrays.py make calls of expressions and of array
assignments, and xmp_directives.py of #pragma xmp, with xmp_collectives.py and xmp_words.py below it."""
