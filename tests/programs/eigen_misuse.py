#!/usr/bin/env python3
"""Runs every case of eigen_misuse.c as misuse.py does: at 2 ranks, on one node and on 2 virtual nodes.

eigen_misuse.py --build BUILD [--jobs N] [CASE ...]
"""

import sys

from misuse import Case, main

PLACE = r"eigen_misuse\.c:\d+: hiroba_eigenpairs"


def everywhere(name: str, *words: str) -> list[Case]:
    return [Case(name, [PLACE, *words], binary="eigen_misuse", ranks=2, nodes=nodes) for nodes in (1, 2)]


CASES = [
    *everywhere("too_many_pairs", "201 eigenpairs of a matrix of 200 rows; .* at most 200"),
    *everywhere("negative", "count is -3"),
    *everywhere("no_convergence", "0 of 2 eigenpairs found after 20 steps .* allow more steps"),
    *everywhere("rounding", "rounding errors allow no smaller residual"),
    *everywhere("part", "part is 9; it is HIROBA_SMALLEST"),
    *everywhere("target_nan", "the target is not finite"),
    *everywhere("target_complex", "imaginary part 1; eigenvalues of Hermitian operators are real"),
    *everywhere("harmonic", "harmonic Ritz vectors are for HIROBA_CLOSEST"),
    *everywhere("general", "of real numbers may have complex eigenvalues"),
    *everywhere("space", "space is 5 and restart 8"),
    *everywhere("tolerance", "absolute is -1"),
    *everywhere("preconditioner", r"rows of the preconditioner \(7\) are divided otherwise"),
    *everywhere("correction_method", "method is 17; it is HIROBA_CG"),
    *everywhere("no_how", "how is NULL"),
    *everywhere("no_values", "values is NULL"),
    *everywhere("no_operator", "HIROBA_NO_LINOP"),
    *everywhere("private", r"vectors\[0\]: address .* is not in a shared array"),
    *everywhere("not_hermitian", "A is not Hermitian: for random x and y"),
    *everywhere("nan", "numbers that are not finite"),
    *[Case("good", [], binary="eigen_misuse", ranks=2, nodes=nodes, good=True) for nodes in (1, 2)],
]

if __name__ == "__main__":
    sys.exit(main(CASES))
