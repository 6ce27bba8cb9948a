"""hirobacc: a C compiler driver that also reads MpC, SMint and XcalableMP's coarrays. See docs/hirobacc.md.

driver.py reads a command (command.py); if nothing that the C compiler reads for it has a notation (plain.py, and
closely.py), the C compiler gets it. Else translation.py runs the jobs of the C compiler's driver (jobs.py): headers.py
says which of our headers a file needs, translate.py makes C of it, fallthrough.py keeps comments that mean something,
pointing.py corrects the C compiler's messages, link.py looks at object files before a link, and foreign.py refuses
notation in C++. They find the notations in registry.py. Each notation is a folder, `mpc`, `smint` and `xmp`: its
notation.py says how it looks and lists its directives, its part.py, if that is long, what it does with a file. Folders
stand on `core` and do not know each other; tests/tidy checks it.

core/: source.py holds preprocessed text and where it came from, declared.py what C declares, scopes.py what names mean;
found.py what a notation found, notation.py what one is; shared.py rewrites shared variables; affine.py and counted.py
read loops; facts.py reads what functions do, flow.py derives which values differ from rank to rank and what pointers
point to, and every_rank.py warns of what every rank does although one should; pragmas.py corrects directives of OpenMP
and OpenACC."""
