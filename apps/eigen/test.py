#!/usr/bin/env python3
"""Tests of the command hiroba-eigen: eigenvalues of random matrices against numpy, on several numbers of ranks and over
virtual nodes; JSON, vectors and pictures; and that everything that is wrong ends in one message and a non-zero exit.

test.py --build BUILD [--seed N] [CASE ...]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, ClassVar

import numpy

SECONDS = 300  # beside other work its many small collective operations take thirty times as long
ONCE = "TESTS_ONCE" in os.environ  # set by tests/sets/run.py, unless all tests are wanted
SHAPES = [(2, 1), (3, 2)] if ONCE else [(1, 1), (2, 1), (3, 1), (4, 1), (2, 2), (3, 2), (4, 4)]  # ranks, nodes


def market_file(path: Path, matrix: Any, kind: str, symmetry: str) -> Path:
    """A Matrix Market file; of a symmetric or Hermitian matrix its lower triangle."""
    n = len(matrix)
    lines = []
    for i in range(n):
        for j in range(n):
            value = matrix[i][j]
            if value == 0 or (symmetry != "general" and j > i):
                continue
            numbers = f"{value.real:.17g} {value.imag:.17g}" if kind == "complex" else f"{value:.17g}"
            lines.append(f"{i + 1} {j + 1} {numbers}\n")
    head = f"%%MatrixMarket matrix coordinate {kind} {symmetry}\n{n} {n} {len(lines)}\n"
    path.write_text(head + "".join(lines))
    return path


class Command(unittest.TestCase):
    build: ClassVar[Path]
    seed: ClassVar[int]

    def setUp(self) -> None:
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = Path(kept.name)
        self.random = numpy.random.default_rng(self.seed)

    def run_command(self, *words: object, ranks: int = 1, nodes: int = 1) -> subprocess.CompletedProcess[str]:
        launcher = [self.build / "bin" / "hirobarun", "-n", ranks, "--nodes", nodes]
        return subprocess.run(
            [str(word) for word in [*launcher, self.build / "bin" / "hiroba-eigen", *words]],
            cwd=self.folder,
            env=os.environ | {"OMP_NUM_THREADS": "1"},  # there are more ranks than cores
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def found(self, *words: object, ranks: int = 1, nodes: int = 1) -> dict[str, Any]:
        """The one object of JSON on standard output."""
        done = self.run_command(*words, "--json", ranks=ranks, nodes=nodes)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
        out = json.loads(done.stdout)
        assert isinstance(out, dict)
        return out

    def refused(self, pattern: str, *words: object, status: int | None = None) -> None:
        for ranks, nodes in ((2, 2),) if ONCE else ((1, 1), (3, 1), (2, 2)):
            done = self.run_command(*words, "--quiet", ranks=ranks, nodes=nodes)
            self.assertNotEqual(done.returncode, 0, f"{words} is not refused: {done.stdout}")
            if status is not None:
                self.assertEqual(done.returncode, status, done.stderr)
            self.assertRegex(done.stderr, pattern)
            self.assertNotIn(".cpp", done.stderr)
            said = [line for line in done.stderr.splitlines() if not line.startswith("hirobarun: rank")]
            self.assertEqual(len(said), 1, f"{words}: not one message:\n{done.stderr}")

    def random_matrix(self, n: int, kind: str) -> Any:
        """With few entries, and eigenvalues that are not near to each other."""
        a = numpy.diag(self.random.permutation(numpy.arange(n)) * 0.7 + self.random.random(n) * 0.1)
        if kind != "real":
            a = a.astype(complex)
        for _ in range(4 * n):
            i, j = self.random.integers(n, size=2)
            value: complex = self.random.standard_normal() * 0.3
            if kind != "real":
                value = value + 0.3j * self.random.standard_normal()
            if kind == "general":
                a[i, j] += value
            elif i != j:
                a[i, j] += value
                a[j, i] += numpy.conj(value)
        return a

    # ---- right answers ----

    def test_hermitian(self) -> None:
        for (ranks, nodes), kind in zip(SHAPES, ["real", "complex"] * 4, strict=False):
            n = int(self.random.integers(20, 140))
            matrix = self.random_matrix(n, kind)
            field, symmetry = ("real", "symmetric") if kind == "real" else ("complex", "hermitian")
            path = market_file(self.folder / "a.mtx", matrix, field, symmetry)
            exact = numpy.linalg.eigvalsh(matrix)
            with self.subTest(seed=self.seed, ranks=ranks, nodes=nodes, kind=kind, n=n):
                low = self.found(path, "--smallest", 5, ranks=ranks, nodes=nodes)
                self.assertLess(numpy.abs(numpy.array(low["eigenvalues"]) - exact[:5]).max(), 1e-9)
                self.assertLess(max(low["residuals"]), 1e-10)
                high = self.found(path, "--largest", 3, "--precondition", "jacobi", ranks=ranks, nodes=nodes)
                self.assertLess(numpy.abs(numpy.array(high["eigenvalues"]) - exact[-3:]).max(), 1e-9)
                self.check_inside(path, exact, ranks, nodes)

    def check_inside(self, path: Path, exact: Any, ranks: int = 1, nodes: int = 1) -> dict[str, Any]:
        """Checks the two eigenvalues of a Hermitian matrix that are closest to a target in their middle."""
        near = float(exact[len(exact) // 2]) + 0.05
        got = self.found(path, "--closest", 2, "--target", near, "--correction", "gmres:100", ranks=ranks, nodes=nodes)
        best = numpy.sort(exact[numpy.argsort(numpy.abs(exact - near))[:2]])
        self.assertLess(numpy.abs(numpy.array(got["eigenvalues"]) - best).max(), 1e-9)
        return got

    def test_digits_that_cancel(self) -> None:
        """Nearly exact corrections depend on the space, which must not multiply the errors of products from step to
        step: the search did not end, or crashed."""
        for seed in (1, 19):
            self.random = numpy.random.default_rng(seed)
            n = int(self.random.integers(40, 90))
            matrix = self.random_matrix(n, "complex")
            path = market_file(self.folder / "a.mtx", matrix, "complex", "hermitian")
            self.assertLess(self.check_inside(path, numpy.linalg.eigvalsh(matrix))["steps"], 200)

    def test_general(self) -> None:
        for ranks, nodes in SHAPES:
            n = int(self.random.integers(20, 100))
            matrix = self.random_matrix(n, "general")
            path = market_file(self.folder / "a.mtx", matrix, "complex", "general")
            exact = numpy.linalg.eigvals(matrix)
            with self.subTest(seed=self.seed, ranks=ranks, nodes=nodes, n=n):
                got = self.found(path, "--largest", 3, ranks=ranks, nodes=nodes)
                self.compare_complex(got, exact[numpy.argsort(-exact.real)[:3]])
                near = exact[numpy.argsort(exact.real)[n // 2]] + 0.01
                got = self.found(
                    path, "--closest", 2, "--target", f"{near.real},{near.imag}", "--correction", "gmres:100",
                    ranks=ranks, nodes=nodes,
                )  # fmt: skip
                self.compare_complex(got, exact[numpy.argsort(numpy.abs(exact - near))[:2]])

    def compare_complex(self, got: dict[str, Any], exact: Any) -> None:
        values = [complex(re, im) for re, im in got["eigenvalues"]]
        self.assertLess(max(got["residuals"]), 1e-10)
        self.assertEqual([v.real for v in values], sorted(v.real for v in values))
        for value in values:
            self.assertLess(numpy.abs(exact - value).min(), 1e-8)

    def test_generated(self) -> None:
        for words in (
            ("laplace1d:60", "--smallest", 2),
            ("laplace2d:40", "--smallest", 4),  # the second and the third are equal
            ("laplace2d:40", "--smallest", 6, "--precondition", "ilu"),
            ("ring:200:1", "--smallest", 3, "--precondition", "milu", "--correction", "minres:20"),
            ("laplace2d:30", "--largest", 3, "--correction", "minres:10"),
            ("laplace3d:12", "--smallest", 4, "--precondition", "chebyshev:3"),
            ("ring:200:1", "--smallest", 3),
            ("ring:100:0.5", "--closest", 2, "--target", 2.013, "--correction", "minres:100"),
            ("tridiagonal:50:-1:-0.6", "--smallest", 2),
        ):
            with self.subTest(words=words):
                self.found("--generate", *words, "--verify", ranks=2, nodes=1)
        got = self.found("--generate", "laplace2d:40", "--smallest", 4, ranks=4, nodes=2)
        exact = [0.011736795265038, 0.029307550071822, 0.029307550071822, 0.046878304878606]
        self.assertLess(numpy.abs(numpy.array(got["eigenvalues"]) - exact).max(), 1e-13)

    def test_units(self) -> None:
        """The same digits in any unit, also where squares of the numbers are out of range."""
        n = 40
        shape = numpy.diag(numpy.full(n, 2.0)) - numpy.diag(numpy.ones(n - 1), 1) - numpy.diag(numpy.ones(n - 1), -1)
        exact = 4 * numpy.sin(numpy.pi * numpy.arange(1, n + 1) / (2 * n + 2)) ** 2
        for unit, words in ((1.8045e-20, ()), (1e30, ()), (1e-160, ("--precondition", "ilu")), (1e150, ())):
            path = market_file(self.folder / "a.mtx", unit * shape, "real", "symmetric")
            for part, wanted in (("--smallest", exact[:3]), ("--largest", exact[-3:])):
                with self.subTest(unit=unit, part=part):
                    got = self.found(path, part, 3, *words, ranks=2)
                    self.assertTrue(got["converged"])
                    off = numpy.abs(numpy.array(got["eigenvalues"]) / unit - wanted) / wanted
                    self.assertLess(off.max(), 1e-9)
                    self.assertLess(max(got["residuals"]) / unit, 4.1e-12)
        path = self.folder / "zero.mtx"
        path.write_text("%%MatrixMarket matrix coordinate real symmetric\n5 5 1\n1 1 0\n")
        self.assertEqual(self.found(path, "--smallest", 3)["eigenvalues"], [0, 0, 0])

    def test_damaged(self) -> None:
        """A negative control: a matrix with one other entry has other eigenvalues."""
        matrix = numpy.diag(numpy.full(40, 2.0)) - numpy.diag(numpy.ones(39), 1) - numpy.diag(numpy.ones(39), -1)
        matrix[3, 3] += 1e-6
        path = market_file(self.folder / "a.mtx", matrix, "real", "symmetric")
        exact = numpy.sort(4 * numpy.sin(numpy.pi * numpy.arange(1, 41) / 82) ** 2)
        got = self.found(path, "--smallest", 2)
        self.assertGreater(abs(got["eigenvalues"][0] - exact[0]), 1e-9)

    # ---- output ----

    def test_table_and_progress(self) -> None:
        done = self.run_command("--generate", "laplace2d:20", "--smallest", 3, ranks=2)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = re.findall(r"^ +(\d) +(\S+) +(\S+)$", done.stdout, re.MULTILINE)
        self.assertEqual([row[0] for row in rows], ["1", "2", "3"])
        steps = re.findall(r"^step (\d+): \d+ products, \d of 3 found, \S+: residual \S+$", done.stderr, re.MULTILINE)
        self.assertEqual([int(step) for step in steps], list(range(1, len(steps) + 1)))
        self.assertIn(f"{len(steps)} steps", done.stdout)

    def test_vectors(self) -> None:
        matrix = self.random_matrix(70, "complex")
        path = market_file(self.folder / "a.mtx", matrix, "complex", "hermitian")
        for ranks, nodes in SHAPES:
            got = self.found(path, "--smallest", 3, "--vectors", "v.npy", ranks=ranks, nodes=nodes)
            vectors = numpy.load(self.folder / "v.npy")
            self.assertEqual(vectors.shape, (3, 70))
            for value, x in zip(got["eigenvalues"], vectors, strict=True):
                self.assertLess(numpy.linalg.norm(matrix @ x - value * x), 2e-10)
            self.assertLess(numpy.abs(vectors.conj() @ vectors.T - numpy.eye(3)).max(), 1e-12)
        self.assertEqual([p.name for p in self.folder.glob("*.part")], [])

    def test_pictures(self) -> None:
        self.found("--generate", "laplace2d:15", "--smallest", 2, "--plot", "--output", "lap", ranks=2)
        path = market_file(self.folder / "a.mtx", self.random_matrix(30, "real"), "real", "symmetric")
        self.found(path, "--plot", ranks=2)
        for name in ("lap-convergence", "lap-entries", "hiroba-eigen-convergence", "hiroba-eigen-entries"):
            root = ElementTree.parse(self.folder / f"{name}.svg").getroot()
            self.assertTrue(root.tag.endswith("svg"))
            self.assertGreater(len(root), 5)

    def test_help(self) -> None:
        done = self.run_command("--help", ranks=2)
        self.assertEqual(done.returncode, 0)
        for word in ("--smallest", "--generate", "Examples", "Exit status"):
            self.assertIn(word, done.stdout)

    # ---- what is wrong ----

    def test_options(self) -> None:
        self.refused("no matrix", status=2)
        self.refused("unknown option '--smalest'; did you mean --smallest", "--smalest", "3", status=2)
        self.refused("'helix:10' is not laplace1d", "--generate", "helix:10", status=2)
        self.refused("after the name come whole numbers", "--generate", "laplace2d:x", status=2)
        self.refused("after the name come whole numbers", "--generate", "ring:2", status=2)
        self.refused("take one of them", "--generate", "laplace1d:9", "--smallest", "1", "--largest", "1", status=2)
        self.refused("belong together", "--generate", "laplace1d:9", "--closest", "1", status=2)
        self.refused("is not a number", "--generate", "laplace1d:9", "--closest", "1", "--target", "two", status=2)
        self.refused("not one of none, jacobi", "--generate", "laplace1d:9", "--precondition", "magic", status=2)
        self.refused("not one of none, minres", "--generate", "laplace1d:9", "--correction", "minres:x", status=2)
        self.refused("--tol 'small' is not a number", "--generate", "laplace1d:9", "--tol", "small", status=2)
        self.refused("may not be negative", "--generate", "laplace1d:9", "--tol", "-1", status=2)
        self.refused("cannot write --vectors", "--generate", "laplace1d:9", "--vectors", "none/v.npy", status=2)
        self.refused("cannot write --output", "--generate", "laplace1d:9", "--plot", "--output", "none/x", status=2)

    def test_matrices(self) -> None:
        def file(text: str) -> Path:
            path = self.folder / "bad.mtx"
            path.write_text(text)
            return path

        head = "%%MatrixMarket matrix coordinate real "
        self.refused(r"cannot open none.mtx \(No such file", "none.mtx")
        self.refused("no Matrix Market file", file("hello\n"))
        self.refused("2 rows and 3 columns; operators are square", file(head + "general\n2 3 1\n1 1 1\n"))
        self.refused("is not a finite number", file(head + "symmetric\n2 2 2\n1 1 1\n2 2 nan\n"))
        self.refused("is not a finite number", file(head + "symmetric\n2 2 2\n1 1 1\n2 2 -inf\n"))
        self.refused("is outside the matrix", file(head + "symmetric\n2 2 1\n3 1 1\n"))
        self.refused(r"said to be (symmetric|Hermitian), and entry \(", file(head + "general\n2 2 2\n1 1 1\n2 1 4\n"),
                     "--hermitian")  # fmt: skip
        self.refused("9 eigenpairs of a matrix of 4 rows", "--generate", "laplace2d:2", "--smallest", "9")
        self.refused("0 of 2 eigenpairs found after 15 steps; .* was to be reached; try --precondition", "--generate",
                     "laplace2d:50", "--smallest", 2, "--steps", 15, "--precondition", "none", status=1)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    Command.build, Command.seed = options.build.resolve(), options.seed
    print(f"seed {options.seed}")
    return 0 if unittest.main(argv=[sys.argv[0], *options.cases], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
