"""What the documentation shows is true: code blocks compile, the first program is the example, its output is real.

Usage: docs_code.py ROOT INCLUDE_FOLDER HIROBARUN HELLO [HIROBACC]
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT, INCLUDE, HIROBARUN, HELLO = (Path(word) for word in sys.argv[1:5])
HIROBACC = Path(sys.argv[5]) if any(sys.argv[5:]) else None
LIBRARY = HIROBARUN.parent.parent / "lib"
LINK = [f"-I{INCLUDE}", f"-I{INCLUDE.parent}", f"-L{LIBRARY}", f"-Wl,-rpath,{LIBRARY}", "-lhiroba_sparse", "-lhiroba"]
FIRST = ROOT / "docs" / "first-program.md"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

# Names that fragments use without declaring them.
FRAGMENT = """#include <hiroba/collective.h>
#include <sms.h>
extern double data[]; extern int64_t flag; extern int i; void use(double);
extern double x[], y[]; extern int64_t n; void compute(void);
void fragment(void) {{
{}
}}
"""


def blocks(page: Path, language: str) -> list[str]:
    """Fenced blocks, also those indented inside a list."""
    fenced = re.findall(r"^( *)```(\w*)\n(.*?)^ *```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return [re.sub(rf"^{indent}", "", text, flags=re.MULTILINE) for indent, name, text in fenced if name == language]


class DocsCode(unittest.TestCase):
    def test_code_blocks_compile(self) -> None:
        for page in PAGES:
            for text in blocks(page, "c"):
                source = text if "main(" in text else FRAGMENT.format(text)
                if re.search(r"#include <(smint|mpc|xmp)\.h>|#pragma hiroba", source):
                    self.run_example(source, page)
                    continue
                if page.name == "openmp.md":
                    self.run_example(source, page, "c", [str(HIROBACC), "-Wall", "-Werror", "-O1", "-fopenmp-nodes"])
                    continue
                command = ["cc", "-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-xc", *LINK[:2], "-"]
                done = subprocess.run(command, input=source, capture_output=True, text=True, timeout=300, check=False)
                self.assertEqual(done.returncode, 0, f"{page.name}: {done.stderr}\n{source}")

    def test_cpp_blocks_run(self) -> None:
        for page in PAGES:
            for text in blocks(page, "cpp"):
                compiler = "mpicxx" if "#include <mpi.h>" in text else "c++"
                if shutil.which(compiler):
                    self.run_example(text, page, "cpp", [compiler, "-std=c++20", "-Wall", "-Werror", "-O1", *LINK])

    def test_calls_need_no_hirobacc(self) -> None:
        """The first program with coarrays is of calls alone, for any C compiler."""
        page = ROOT / "docs" / "coarrays.md"
        self.run_example(blocks(page, "c")[0], page, "c", ["cc", "-std=gnu11", "-Wall", "-Werror", "-O1", *LINK])

    def test_solver(self) -> None:
        page = ROOT / "docs" / "sparse.md"
        self.run_example(blocks(page, "c")[0], page, "c", ["cc", "-std=gnu11", "-Wall", "-Werror", *LINK, "-lm"])

    def test_collectives(self) -> None:
        """The first program says what the page shows; the one in Fortran runs where there is a compiler."""
        page = ROOT / "docs" / "collectives.md"
        said = self.run_example(blocks(page, "c")[0], page, "c", ["cc", "-std=gnu11", "-Wall", "-Werror", *LINK])
        command, _, output = blocks(page, "")[0].partition("\n")
        self.assertEqual(command, "$ hirobarun -n 3 --nodes 2 ./first")
        if said is not None:
            self.assertEqual(said, output)
        if shutil.which("gfortran"):
            source = (INCLUDE / "hiroba_collective.f90").read_text() + blocks(page, "fortran")[0]
            with tempfile.TemporaryDirectory() as modules:
                self.run_example(source, page, "f90", ["gfortran", f"-J{modules}", *LINK])

    def test_first_program(self) -> None:
        """Each change that the page shows makes what the page shows. Three dots stand for anything."""
        if HIROBACC is None:
            return
        program = ""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "heat.c"
            for language, text in re.findall(r"^```(\w*)\n(.*?)^```$", FIRST.read_text(), re.MULTILINE | re.DOTALL):
                if language == "c":
                    program = text
                    source.write_text(program)
                elif language == "diff":
                    source.write_text(self.changed(program, text))
                elif not language:
                    self.check_session(text, folder)

    def changed(self, program: str, change: str) -> str:
        lines = change.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] in " -")
        new = "".join(line[1:] for line in lines if line[0] in " +")
        self.assertEqual(program.count(old), 1, f"{FIRST.name}: {old}")
        return program.replace(old, new)

    def check_session(self, text: str, folder: str) -> None:
        """Commands, each with what it prints below it: these lines in this order, others only where dots are."""
        assert HIROBACC is not None
        tools = {"hirobacc": str(HIROBACC), "hirobarun": str(HIROBARUN)}
        for session in re.findall(r"^\$ .*\n(?:(?!\$ ).*\n)*", text, re.MULTILINE):
            command, _, expected = session.partition("\n")
            tool, *words = command[2:].split()
            done = subprocess.run(
                [tools[tool], *words], cwd=folder, text=True, timeout=300, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            lines = ["(.*\n)*" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + "\n"
                     for line in expected.splitlines()]  # fmt: skip
            self.assertRegex(done.stdout, rf"\A{''.join(lines)}", f"{FIRST.name}: {command}")

    def run_example(self, source: str, page: Path, suffix: str = "c", compiler: list[str] | None = None) -> str | None:
        """Whole programs, in the notations of hirobacc if no compiler is given: they run, and end with status 0. What
        they print."""
        if HIROBACC is None:  # then the library may be one that needs sanitizers
            return None
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / f"example.{suffix}"
            program.write_text(source)
            compile_it = compiler or [str(HIROBACC), "-Wall", "-Werror", "-O1", "-fopenmp", "-lm"]
            commands = [
                [compile_it[0], str(program), "-o", f"{folder}/example", *compile_it[1:]],
                [str(HIROBARUN), "-n", "3", "--nodes", "2", "--threads", "1", f"{folder}/example"],
            ]
            for command in commands:
                done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
                self.assertEqual(done.returncode, 0, f"{page.name}: {done.stderr}\n{source}")
            return done.stdout

    def test_the_first_program_is_the_example(self) -> None:
        example = (ROOT / "examples" / "hello.c").read_text()
        self.assertEqual(blocks(ROOT / "README.md", "c")[0], example[example.index("#include") :])

    def test_its_output_is_real(self) -> None:
        shown = next(block for block in blocks(ROOT / "README.md", "") if block.startswith("$ hirobarun"))
        command, _, output = shown.partition("\n")
        self.assertEqual(command, "$ hirobarun -n 4 --nodes 2 hello")
        run = [str(HIROBARUN), "-n", "4", "--nodes", "2", str(HELLO)]
        done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=True)
        self.assertEqual(done.stdout, output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
