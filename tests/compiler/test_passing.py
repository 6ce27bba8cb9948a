"""What is not Hiroba's passes through: the machine code and data of real C are those of the C compiler alone."""

import pathlib
import re
import shutil
import unittest

from compiling import HERE, ROOT, CompilerTest, execute, some

# Left out until the bug is mended: file or test, number of the bug.
OPEN_BUGS: dict[str, str] = {}

WRAPPERS = {"mpi.h": "mpicc", "shmem.h": "oshcc"}
NOTATION = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(SMint|xmp)\b|^shared\b.*::|\]:\[", re.MULTILINE)
# What hirobacc adds to a program that calls MPI: the header in which each call brings the pages of its buffers first.
MPI_CALLS = ("-include", str(ROOT / "include/hiroba/mpi_calls.h"))
FLAGS = ("-O1", "-fopenmp", "-w", "-frandom-seed=1", "-I", str(ROOT / "include/hiroba"))


def ours() -> list[pathlib.Path]:
    """Each C program of this tree without our notation."""
    found = [path for folder in ("apps", "examples", "bench") for path in sorted((ROOT / folder).rglob("*.c"))]
    return [path for path in found if not NOTATION.search(path.read_text())]


class Passing(CompilerTest):
    def contents(self, name: str) -> str:
        """Code, relocations and data of an object file, without its name."""
        listing = execute(["objdump", "-d", "-r", "-s", name], self.folder)
        self.assertEqual((listing.returncode, listing.stderr), (0, ""))
        return re.sub(r"^\S+: +file format", "file format", listing.stdout, flags=re.MULTILINE)

    def check(self, path: pathlib.Path, compiler: str, *flags: str) -> None:
        words = [*FLAGS, *flags, "-c", str(path), "-o"]
        added = MPI_CALLS if b"<mpi.h>" in path.read_bytes() else ()
        alone = execute([compiler, *words, "alone.o", *added], self.folder)
        if alone.returncode != 0:
            self.skipTest(f"{compiler} alone does not compile it: {alone.stderr.splitlines()[0]}")
        ended = self.compile("--cc", compiler, *words, "ours.o")
        self.assertEqual((ended.returncode, ended.stderr, ended.stdout), (0, alone.stderr, ""))
        if (self.folder / "alone.o").read_bytes() != (self.folder / "ours.o").read_bytes():
            self.assertEqual(self.contents("alone.o"), self.contents("ours.o"))

    def check_all(self, files: list[pathlib.Path], compiler: str, *flags: str) -> None:
        if shutil.which(compiler) is None:
            self.skipTest(f"there is no {compiler}")
        for path in files:
            with self.subTest(path.name):
                if path.stem in OPEN_BUGS:
                    self.skipTest(f"bug {OPEN_BUGS[path.stem]}")
                self.check(path, compiler, *flags)

    def test_corpus(self) -> None:
        found = sorted((HERE / "passing").glob("*.c"))
        self.assertGreater(len(found), 10)
        self.check_all(found, "gcc")

    def test_corpus_other_dialects(self) -> None:
        found = [HERE / "passing" / f"{name}.c" for name in ("headers", "gnu", "shared_word")]
        self.check_all(found, "gcc", "-std=gnu17", "-O0", "-DNDEBUG")

    def test_corpus_clang(self) -> None:
        found = [HERE / "passing" / f"{name}.c" for name in ("headers", "c11", "shared_word", "lines")]
        self.check_all(found, "clang", "-fno-openmp")

    def test_programs_of_this_tree(self) -> None:
        found: dict[str, list[pathlib.Path]] = {}
        for path in ours():
            text = path.read_text()
            compiler = next((cc for header, cc in WRAPPERS.items() if f"<{header}>" in text), "gcc")
            found.setdefault(compiler, []).append(path)
        self.assertGreater(len(found["gcc"]), 10)
        for compiler, paths in found.items():
            with self.subTest(compiler):
                self.check_all(some(paths) or paths[:1], compiler)

    def warnings(self, pattern: str) -> tuple[list[str], list[str]]:
        """Parts of the warnings of the C compiler alone, and of hirobacc, about a program with some macros."""
        self.write(
            "warned.c",
            "#include <stdio.h>\n#include <stdlib.h>\n#define MIN(a, b) ((a) < (b) ? (a) : (b))\n"
            "static int unused(int n) {\n  int x;\n  if (n = MIN(n, 3)) ;\n  free(&n);\n  return x;\n}\n"
            'int main(void) { char c = EOF; long n = 3; printf("%d", n); if (c == 300) return MIN(1, 1u); }\n',
        )
        flags = ["-O2", "-Wall", "-Wextra", "-c", "warned.c"]
        alone = execute(["gcc", *flags], self.folder)
        places = re.compile(pattern, re.MULTILINE)
        self.assertGreater(len(places.findall(alone.stderr)), 4)
        return places.findall(alone.stderr), places.findall(self.compile("--cc", "gcc", *flags).stderr)

    def test_warnings_stay(self) -> None:
        self.assertEqual(*self.warnings(r"^warned\.c:(\d+):\d+: warning: (.*)$"))

    def test_columns_stay(self) -> None:
        if "test_columns_stay" in OPEN_BUGS:
            self.skipTest(f"bug {OPEN_BUGS['test_columns_stay']}")
        self.assertEqual(*self.warnings(r"^warned\.c:\d+:\d+: warning: .*$"))


if __name__ == "__main__":
    unittest.main()
