#!/usr/bin/env python3
"""Runs every case of sparse_misuse.c as misuse.py does: at 2 ranks, on one node and on 2 virtual nodes.

sparse_misuse.py --build BUILD [--jobs N] [CASE ...]
"""

import sys

from misuse import Case, main

PLACE = r"sparse_misuse\.c:\d+"


def everywhere(name: str, *words: str) -> list[Case]:
    return [Case(name, [PLACE, *words], binary="sparse_misuse", ranks=2, nodes=nodes) for nodes in (1, 2)]


def of_file(name: str, *words: str) -> list[Case]:
    return everywhere(name, "hiroba_linop_read", *words)


CASES = [
    *of_file("no_file", "cannot open no-such-file.mtx", "No such file"),
    *of_file("file_folder", r"\. is no regular file"),
    *of_file("file_empty", "is empty"),
    *of_file("file_binary", "is no Matrix Market file", "it is binary"),
    *of_file("file_dense", ":1: a sparse matrix begins with", "array"),
    *of_file("file_wide", ":3: the matrix has 2 rows and 3 columns; operators are square"),
    *of_file("file_outside", r":5: entry \(3, 1\) is outside the matrix, whose rows and columns are 1\.\.2"),
    *of_file("file_zero_based", r":4: entry \(0, 1\) is outside the matrix"),
    *of_file("file_short", "has 2 entries, and says that it has 3: it is truncated"),
    *of_file("file_cut", ':4: expected "row column value", and this is: 2 2', "it is truncated"),
    *of_file("file_cut_early", "ends before the line of rows, columns and entries: it is truncated"),
    *of_file("file_words", ":3: expected", "1 1 one"),
    *of_file("file_zeros", ":4: expected", "binary from here on"),
    *of_file("file_nan", r":4: entry \(2, 2\) is not a finite number"),
    *of_file("file_complex", ":1: the numbers are complex; read them into a matrix of complex numbers"),
    *of_file("file_huge_number", ":4: 1e999 is beyond the largest number of double"),
    *of_file(
        "file_not_hermitian", r"said to be Hermitian, and entry \((0, 1|1, 0)\) is [45] where \((1, 0|0, 1)\) makes it"
    ),
    *of_file("file_above", r":4: entry \(1, 2\) is above the diagonal"),
    *everywhere("outside", r"row 150: entry \(150, 200\) is outside the matrix, whose rows and columns are 0\.\.199"),
    *everywhere("nan", r"row 150: entry \(150, 151\) is not a finite number"),
    *everywhere("too_many", "gives 4 entries for row 150; it may give up to 3"),
    *everywhere("not_symmetric", r"said to be symmetric, and entry \((150, 149|149, 150)\) is -1(.5)? where"),
    *everywhere(
        "not_hermitian",
        r"said to be Hermitian, and entry \((3, 150|150, 3)\) is \(1, 2\) where \((150, 3|3, 150)\) makes it \(1, -2\)",
    ),
    *everywhere("one_side", r"said to be Hermitian, and entry \((3, 150|150, 3)\) is \((1, 2|-?0, -?0)\) where"),
    *everywhere("diagonal", r"said to be Hermitian, and entry \(150, 150\) is \(1, 2\) where"),
    *everywhere("different_rows", "hiroba_linop_from_triplets: ranks give different numbers of rows, or flags"),
    *everywhere("huge", "a matrix of 1099511627776 rows on 2 ranks; a rank has at most 2147483647; use more ranks"),
    *everywhere("negative", r"triplet 0: entry \(-1, -1\) is outside"),
    *everywhere("no_rows", "a matrix of 0 rows; it has at least 1"),
    *everywhere("type", "type 5; it is HIROBA_FLOAT"),
    *everywhere("two_formats", "HIROBA_CSR and HIROBA_SELL; a matrix has one format"),
    *everywhere("triangle", "HIROBA_ONE_TRIANGLE without"),
    *everywhere("no_diagonal", "hiroba_linop_jacobi: row 150 has 0 on the diagonal, so the preconditioner is singular"),
    *everywhere("singular_factors", "hiroba_linop_ilu: incomplete factors: pivot is 0 of row 199", "is singular"),
    *everywhere("indefinite", "hiroba_solve: CG did not converge", "not Hermitian positive definite", "take MINRES"),
    *everywhere("cg_not_symmetric", "hiroba_solve: CG did not converge", "the matrix is not symmetric", "take GMRES"),
    *everywhere("pipelined_not_symmetric", "pipelined CG did not converge: .* the matrix is not symmetric"),
    *everywhere("minres_not_symmetric", "MINRES did not converge: .* the matrix is not symmetric: .* differ by"),
    *everywhere("minres_slightly_not_symmetric", "after 20 iterations .*; besides, the matrix is not symmetric"),
    Case("minres_symmetric_to_rounding", [], binary="sparse_misuse", ranks=2, nodes=2, good=True),
    *everywhere("no_convergence", "MINRES did not converge: after 20 iterations .* was to be reached; allow more"),
    *everywhere("b_nan", "GMRES did not converge: after 0 iterations .* not finite"),
    *everywhere("method", "method is 17; it is HIROBA_CG"),
    *everywhere("wrong_rows", r"rows of the preconditioner \(1\) are divided otherwise .* \(200\)"),
    *everywhere(
        "bad_preconditioner", "MINRES did not converge: .* preconditioner M is not Hermitian positive definite"
    ),
    *everywhere("singular_matrix", r"GMRES did not converge: .* \(0\.577 of .b.\).* is singular"),
    *everywhere("different_settings", "hiroba_solve: ranks give different settings of the solver"),
    *everywhere("restart", "GMRES with 524288 vectors of 524288 elements on this rank needs .* take a smaller restart"),
    *everywhere("relax", "hiroba_linop_ilu: relax is 1.5; it is the part of the fill-in that is added to the diagonal"),
    *everywhere("different_relax", "hiroba_linop_ilu: ranks give different parts of the fill-in for the diagonal"),
    *everywhere("degree", "the degree is 0; it must be at least 1"),
    *everywhere("different_bounds", "hiroba_linop_chebyshev: ranks give different degrees or bounds"),
    *everywhere("bounds", "eigenvalues between 2 and 1; a Chebyshev polynomial needs 0 < low < high"),
    *everywhere("used", "hiroba_linop_free: a Chebyshev preconditioner uses this matrix"),
    *everywhere("of_preconditioner", "hiroba_linop_ilu: a preconditioner is made from a matrix"),
    *everywhere("no_operator", "hiroba_linop_vector: the operator is HIROBA_NO_LINOP"),
    *everywhere("product_of_freed", "hiroba_linop_apply: the operator was freed already, by hiroba_linop_free"),
    *everywhere("look_of_freed", "hiroba_linop_look: the operator was freed already"),
    *everywhere("free_of_freed", "hiroba_linop_free: the operator was freed already"),
    *everywhere("preconditioner_of_freed", "hiroba_solve: the preconditioner was freed already"),
    *everywhere("private", "hiroba_linop_apply: x: address .* is not in a shared array"),
    *everywhere("other_distribution", "y: rank 1 has its element 0, and rank 0 row 0; take a vector", "hiroba_dcopy"),
    *everywhere("short", "hiroba_linop_apply: x: "),
    *everywhere("other_type", "hiroba_linop_apply: x: "),
    *everywhere("same_vector", "x and y are the same vector"),
    *[Case("redistributed", [], binary="sparse_misuse", ranks=2, nodes=nodes, good=True) for nodes in (1, 2)],
    *[Case("stopped_by_one", [], binary="sparse_misuse", ranks=2, nodes=nodes, good=True) for nodes in (1, 2)],
    Case("not_started", [PLACE, "before sms_startup"], binary="sparse_misuse", ranks=1, nodes=1),
]

if __name__ == "__main__":
    sys.exit(main(CASES))
