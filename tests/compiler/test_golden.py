"""Each construct of the notations: what hirobacc makes of it (NAME.expected), and that it computes the right
answer. `test_golden.py --update` writes the .expected files anew; look at the difference before you keep it."""

import pathlib
import sys
import unittest

from compiling import HERE, CompilerTest, execute, lines_of_user, shapes, some

GOLDEN = HERE / "golden"
FLAGS = ("-O1", "-fopenmp", "-Wall", "-Wextra", "-Werror")
UPDATE = "--update" in sys.argv

# Left out until the bug is mended: program, number of the bug.
OPEN_BUGS: dict[str, str] = {}


def programs(notation: str) -> list[pathlib.Path]:
    """A second file of a program is called NAME-2.c."""
    return [path for path in sorted(GOLDEN.glob(f"{notation}_*.c")) if not path.stem.endswith("-2")]


class Golden(CompilerTest):
    def check(self, notation: str) -> None:
        found = programs(notation)
        self.assertGreater(len(found), 10)
        run = some(found)
        for path in found:
            with self.subTest(path.stem):
                if path.stem in OPEN_BUGS:
                    self.skipTest(f"bug {OPEN_BUGS[path.stem]}")
                second = path.with_name(path.stem + "-2.c")
                files = [path.name, second.name] if second.exists() else [path.name]
                for file in files:
                    self.check_shown(GOLDEN / file)
                if path not in run:
                    continue
                binary = self.folder / path.stem
                self.compiled(*FLAGS, *(GOLDEN / file for file in files), "-o", binary)
                self.check_answer(binary)
                if notation in ("mpc", "smint"):
                    self.check_silent(binary)

    def check_silent(self, binary: pathlib.Path) -> None:
        """Option check names no race, and the answer stays."""
        for ranks, nodes in shapes(binary.name, ((2, 1), (3, 2))):
            ended = self.check_run(binary, ranks, nodes)
            self.assertEqual(ended.stdout, "OK\n")
            self.assertNotIn(" race ", ended.stderr)

    def check_shown(self, file: pathlib.Path) -> None:
        shown = self.compiled("--show", *FLAGS, file)
        lines = lines_of_user(shown.stdout, str(file)).replace(str(GOLDEN) + "/", "")
        expected = file.with_suffix(".expected")
        if UPDATE:
            expected.write_text(lines)
        self.assertEqual(lines, expected.read_text(), f"hirobacc --show {file.name}; if this is right: --update")

    def test_mpc(self) -> None:
        self.check("mpc")

    def test_smint(self) -> None:
        self.check("smint")

    def test_xmp(self) -> None:
        self.check("xmp")

    def test_task(self) -> None:
        self.check("task")

    def test_transaction(self) -> None:
        self.check("transaction")

    def test_nothing_left_over(self) -> None:
        for expected in GOLDEN.glob("*.expected"):
            self.assertTrue(expected.with_suffix(".c").exists(), expected)
        self.assertEqual(set(OPEN_BUGS) - {path.stem for path in GOLDEN.glob("*.c")}, set())

    def test_no_warnings_of_what_is_written(self) -> None:
        """Of those that people switch on; the programs themselves give none."""
        strict = ("-std=c99", "-pedantic", "-Wshadow", "-Wconversion", "-Wcast-qual", "-Wstrict-prototypes", "-Wundef")
        smint = ("smint_for", "smint_for_omp", "smint_later", "smint_repeat", "smint_collapse", "smint_tasks")
        transactions = (f"transaction_{name}" for name in ("called", "locals", "types"))
        for name in (*smint, "task_taskwait", "task_cholesky", *transactions):
            with self.subTest(name):
                self.compiled(*FLAGS, *strict, "-c", GOLDEN / f"{name}.c", "-o", self.folder / "out.o")

    def test_show_is_what_is_compiled(self) -> None:
        """What --show prints is C: any compiler makes the same program of it."""
        shown = self.compiled("--show", "-fopenmp", GOLDEN / "smint_for_omp.c")
        written = self.write("shown.i", shown.stdout)
        once = self.folder / "once.o"
        self.compiled("-O1", "-fopenmp", "-c", GOLDEN / "smint_for_omp.c", "-o", once)
        execute(["cc", "-O1", "-fopenmp", "-c", "-fpreprocessed", str(written), "-o", "again.o"], self.folder)
        objects = ("once.o", "again.o")
        listings = [execute(["objdump", "-d", "--no-addresses", name], self.folder).stdout for name in objects]
        self.assertIn("<main>", listings[0])
        self.assertEqual(*(text.split("\n", 3)[3] for text in listings))


if __name__ == "__main__":
    unittest.main(argv=[word for word in sys.argv if word != "--update"])
