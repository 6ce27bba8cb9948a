"""hirobacc: a C compiler driver that also reads MpC, SMint and XcalableMP's coarrays. See docs/hirobacc.md.

driver.py reads a command (command.py); if no text that the C compiler reads for it has a notation (plain.py, and
closely.py), the C compiler gets it. Else translation.py runs the jobs of the C compiler's driver (jobs.py):
headers.py finds the headers of Hiroba that a file needs, translate.py turns it into C, fallthrough.py keeps
significant comments, pointing.py corrects the C compiler's messages, link.py checks object files before a link, and
foreign.py and cxx_headers.py refuse notation in C++. They find the notations in registry.py. Each notation is a
folder, `mpc`, `smint` and `xmp`: its notation.py defines its form and lists its directives, its part.py, if that is
long, processes a file. Folders use `core` and do not know each other; tests/tidy checks it.

core/: source.py holds preprocessed text and its origin, declared.py the declarations of C, scopes.py the meaning of
names; found.py the results of a notation, notation.py its interface; shared.py rewrites shared variables; affine.py
and counted.py read loops; facts.py reads the operations of functions, flow.py derives the values that differ from
rank to rank and the targets of pointers, and every_rank.py warns of operations that every rank does although one
should; pragmas.py corrects directives of OpenMP and OpenACC."""
