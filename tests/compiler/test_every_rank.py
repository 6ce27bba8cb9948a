"""What every rank does although one should: in every_rank/ the lines of programs that are errors say so themselves."""

import re
import unittest

from compiling import HERE, CompilerTest

PROGRAMS = HERE / "every_rank"


class EveryRank(CompilerTest):
    def check(self, name: str, mark: str = "every rank", message: str = "every rank does this") -> None:
        lines = (PROGRAMS / name).read_text().split("\n")
        marked = {number for number, line in enumerate(lines, 1) if f"/* {mark} */" in line}
        ended = self.compile("-c", PROGRAMS / name, "-o", "out.o")
        said = re.findall(r"\.c:(\d+):\d+: (?:error|warning): " + message, ended.stderr)
        self.assertEqual(sorted(map(int, said)), sorted(marked), ended.stderr)
        self.assertEqual(ended.returncode, int(bool(marked)))
        self.assertEqual(len(re.findall(": (?:error|warning): ", ended.stderr)), len(marked), ended.stderr)

    def test_forgotten_directives(self) -> None:
        self.check("forgotten.c")
        self.check("forgotten_too.c")

    def test_what_is_meant(self) -> None:
        self.check("meant.c")

    def test_sums_without_reduction(self) -> None:
        self.check("sums.c", "own iterations", "each rank gets a `.*` of its own iterations only")


if __name__ == "__main__":
    unittest.main()
