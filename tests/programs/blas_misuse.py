#!/usr/bin/env python3
"""Runs every case of blas_misuse.c as misuse.py does: at 2 ranks, on one node and on 2 virtual nodes.

blas_misuse.py --build BUILD [--jobs N] [CASE ...]
"""

import sys

from misuse import Case, main

PLACE = r"blas_misuse\.c:\d+"


def everywhere(name: str, *words: str) -> list[Case]:
    return [Case(name, [PLACE, *words], binary="blas_misuse", ranks=2, nodes=nodes) for nodes in (1, 2)]


CASES = [
    *everywhere("private", "hiroba_daxpy: x: address .* is not in a shared array", "libhiroba_blas"),
    *everywhere("too_long", "hiroba_daxpy: x: a vector of 101 elements", "over the end of array .* by 8 bytes"),
    *everywhere("too_far", "hiroba_daxpy: y: a vector of 34 elements with distance -3", "by 8 bytes"),
    *everywhere("no_distance", "hiroba_dscal: incx is 0", "1 for consecutive"),
    *everywhere("negative", "hiroba_dnrm2: n is -1; it must not be negative"),
    *everywhere("freed", "hiroba_dcopy: x: use after sms_free"),
    *everywhere("order", "hiroba_dgemv: order is 1; it is HIROBA_ROW_MAJOR or HIROBA_COL_MAJOR"),
    *everywhere("trans", "hiroba_dgemv: trans is 84; it is HIROBA_NO_TRANS"),
    *everywhere("narrow", "hiroba_dgemv: lda is 5, and a line of the matrix has 6 elements"),
    *everywhere("too_large", "hiroba_dger: A: a matrix of 11 lines of 10 elements", "by 80 bytes"),
    *everywhere("lengths", "differ", r"hiroba_ddot\(n = 100\)", r"hiroba_ddot\(n = 99\)"),
    *everywhere("not_waited", r"hiroba_ddot_start\(n = 100\)", "call hiroba_wait"),
    Case("not_started", [PLACE, "before sms_startup"], binary="blas_misuse", ranks=1, nodes=1),
]

if __name__ == "__main__":
    sys.exit(main(CASES))
