"""The two listings of the mSMS paper, as printed, must compile and compute the right answer."""

import unittest

from compiling import HERE, CompilerTest

# Left out until the bug is mended: program, number of the bug.
OPEN_BUGS: dict[str, str] = {}


class Paper(CompilerTest):
    def check(self, name: str, *flags: str) -> None:
        if name in OPEN_BUGS:
            self.skipTest(f"bug {OPEN_BUGS[name]}")
        for optimised in ("-O0", "-O3"):
            binary = self.folder / f"{name}{optimised}"
            self.compiled(optimised, "-fopenmp", *flags, HERE / "paper" / f"{name}.c", "-o", binary)
            self.check_answer(binary)

    def test_stencil_mpc(self) -> None:
        self.check("stencil_mpc", "-Wno-implicit-int")

    def test_matvec_smint(self) -> None:
        self.check("matvec_smint")


if __name__ == "__main__":
    unittest.main()
