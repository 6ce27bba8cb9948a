"""The listings of the two papers, as printed, must compile and compute the right answer."""

import unittest
from collections.abc import Sequence

from compiling import HERE, JOBS, CompilerTest, shapes

# Left out until the bug is mended: program, number of the bug.
OPEN_BUGS: dict[str, str] = {}


class Paper(CompilerTest):
    def check(self, name: str, *flags: str, jobs: Sequence[tuple[int, int]] = JOBS) -> None:
        if name in OPEN_BUGS:
            self.skipTest(f"bug {OPEN_BUGS[name]}")
        for optimised in shapes(name, ("-O0", "-O3")):
            binary = self.folder / f"{name}{optimised}"
            self.compiled(optimised, "-fopenmp", *flags, HERE / "paper" / f"{name}.c", "-o", binary)
            self.check_answer(binary, jobs=jobs)

    def test_stencil_mpc(self) -> None:
        self.check("stencil_mpc", "-Wno-implicit-int")

    def test_matvec_smint(self) -> None:
        self.check("matvec_smint")

    def test_pingpong_put(self) -> None:
        self.check("pingpong_put", jobs=((2, 1), (2, 2)))

    def test_pingpong_get(self) -> None:
        self.check("pingpong_get", jobs=((2, 1), (2, 2)))

    def test_is_exchange(self) -> None:
        self.check("is_exchange", jobs=(*JOBS, (4, 2)))

    def test_cg_reduction(self) -> None:
        for ranks in (2, 4):
            self.check("cg_reduction", f"-DNUM_ROWS={ranks // 2}", jobs=((ranks, 1), (ranks, 2)))

    def test_coarray_section(self) -> None:
        self.check("coarray_section", jobs=((4, 1), (4, 2)))

    def test_coarray_operations(self) -> None:
        self.check("coarray_operations", jobs=((4, 1), (4, 2)))


if __name__ == "__main__":
    unittest.main()
