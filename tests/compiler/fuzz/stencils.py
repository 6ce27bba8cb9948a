"""Stencils, which must not fault after their first step."""

from __future__ import annotations

import random

from arrays import Array
from cases import Case


def stencil(seed: int, number: int) -> Case:
    """Radius 1 or 2 over arrays that are divided in their first dimension: after the first step nothing may fault."""
    dice = random.Random(f"stencil {seed} {number}")
    dims = tuple(dice.choice(c) for c in dice.choice([[[509, 1021, 3001, 4096]], [[37, 64, 67], [31, 64, 129]],
                                                      [[13, 16, 23], [7, 16], [17, 32, 64]]]))  # fmt: skip
    kind = dice.choice(["double", "double", "float", "int"])
    brackets = "".join(f"[{n}]" for n in dims[1:])
    case = Case(number, [Array(f"{n}{number}", kind, dims, "::[NPROCS](0,NPROCS)") for n in "au"], [], {})
    radius = dice.choice([1, 2])
    names = "ijk"[: len(dims)]
    loops = "".join(f"for (int {v} = {radius}; {v} < {n} - {radius}; {v}++) " for v, n in zip(names, dims, strict=True))
    reads = ["src" + "".join(f"[{w} {sign} {r}]" if w == v else f"[{w}]" for w in names)
             for v in names for r in range(1, radius + 1) for sign in "+-"]  # fmt: skip
    place = "".join(f"[{v}]" for v in names)
    whole = "".join(f"for (int {v} = 0; {v} < {n}; {v}++) " for v, n in zip(names, dims, strict=True))
    fill = f"{whole}{{ a{number}{place} = ({' + 3 * '.join(names)}) % 97; u{number}{place} = 1; }}"
    omp = ["#pragma omp parallel for"] if dice.random() < 0.5 else []
    case.pieces.append(["#pragma SMint parallel for", fill])
    case.pieces.append([
        f"{kind} (*src){brackets} = a{number}, (*dst){brackets} = u{number}, (*other){brackets};",
        "for (int t = 0; t < 5; t++) {", "unsigned long faults = faults_now();", "#pragma SMint parallel for", *omp,
        f"{loops}dst{place} = ({kind})((long)(src{place} + {' + '.join(reads)}) % 97);",
        f"if (t > 0) expect_no_faults({number}, t, faults_now() - faults);",
        "other = src; src = dst; dst = other;", "}",
    ])  # fmt: skip
    return case
