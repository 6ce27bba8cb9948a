"""Reports of runs: problems in programs with directives, with coarrays and in Python are named with a line of the
source, and the remedy is in the words of the notation; the remedied programs have no advice.

report_notations.py BUILD [TEST ...]
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import unittest
import unittest.mock
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report import BUILD, Reports, run, three_attempts

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Case:
    """`where`: a text of the line that is named, or from which it is one of `lines`, as a directive above a loop."""

    rule: str
    where: str
    remedy: str
    cost: str  # the seconds that the problem costs
    lines: tuple[int, ...] = (0,)
    nodes: int = 2


class Notation(Reports):
    SOURCE = Path()

    def words(self) -> list[str]:
        """Returns the command of the program."""
        raise NotImplementedError

    def report_of(self, command: list[str], *more: str, nodes: int = 2) -> dict[str, Any]:
        file = self.folder / "run.json"
        done = run(file, *command[1:], *more, nodes=nodes, program=command[0])
        self.assertEqual(done.returncode, 0, done.stderr)
        out: dict[str, Any] = json.loads(file.read_text())
        return out

    @three_attempts
    def check(self, name: str, case: Case, command: list[str]) -> None:
        named = [name] if name else []
        data = self.report_of(command, *named, nodes=case.nodes)
        self.assertTrue(data["advice"], f"no advice on {name}")
        first = data["advice"][0]
        self.assertEqual(first["rule"], case.rule, first["sentence"])
        self.assertIn(case.remedy, first["remedy"])
        text = self.SOURCE.read_text()
        line = text[: text.index(case.where)].count("\n") + 1
        places = [f"{self.SOURCE.name}:{line + i}" for i in case.lines]
        self.assertTrue(any(place in first["sentence"] for place in places), f"{places}: {first['sentence']}")
        good = self.report_of(command, *named, "remedied", nodes=case.nodes)
        self.assertEqual([entry["sentence"] for entry in good["advice"]], [])
        self.assertLess(self.seconds(good, case.cost), self.seconds(data, case.cost))

    def check_all(self, cases: dict[str, Case]) -> None:
        command = self.words()
        for name, case in cases.items():
            with self.subTest(name):
                self.check(name, case, command)


class Compiled(Notation):
    def words(self) -> list[str]:
        program = self.folder / "program"
        words = [str(BUILD / "bin" / "hirobacc"), "--cc", "cc", "-g", "-O2", str(self.SOURCE), "-o", str(program)]
        subprocess.run(words, check=True, timeout=300, cwd=self.folder)
        return [str(program)]


class Directives(Compiled):
    SOURCE = ROOT / "tests" / "programs" / "report_directives.c"

    def test_all(self) -> None:
        self.check_all(
            {
                "missing_preload": Case("missing preload", "/* reads of all", "#pragma SMint preload a[", "faults"),
                "lock_contention": Case(
                    "lock contention", "#pragma SMint critical", "clause reduction", "locks", (0, 1)
                ),
                "load_imbalance": Case("load imbalance", "/* uneven */", "schedule(dynamic", "computing", (-1, 0), 1),
                "collective": Case("collective in inner loop", "/* short */", "outer loop", "collective"),
            }
        )


class Coarrays(Compiled):
    SOURCE = ROOT / "tests" / "programs" / "report_coarrays.c"

    def test_all(self) -> None:
        self.check_all(
            {
                "lock_contention": Case("lock contention", "#pragma xmp lock", "#pragma xmp reduction", "locks"),
                "load_imbalance": Case("load imbalance", "/* the end of uneven", "gblock", "computing"),
                "collective": Case("collective in inner loop", "#pragma xmp reduction", "#pragma xmp", "collective"),
            }
        )


class Fortran(Notation):
    """Calls of the module hiroba_collective; report_running.py has OpenMP."""

    SOURCE = ROOT / "tests" / "programs" / "report_collective.f90"

    def test_collective(self) -> None:
        if shutil.which("gfortran") is None:
            self.skipTest("no gfortran")
        program, library = self.folder / "program", BUILD / "lib"
        words: list[str | Path] = [
            "gfortran",
            "-g",
            "-O2",
            ROOT / "include" / "hiroba" / "hiroba_collective.f90",
            self.SOURCE,
        ]
        words += [f"-L{library}", "-lhiroba", f"-Wl,-rpath,{library}", "-o", program]
        subprocess.run(words, check=True, timeout=300, cwd=self.folder)
        case = Case(
            "collective in inner loop", "call hiroba_allreduce(mine(i:i)", "collective.h", "collective", (-1, 0)
        )
        self.check("", case, [str(program)])


class PythonPrograms(Notation):
    SOURCE = ROOT / "tests" / "python" / "report_cases.py"

    def words(self) -> list[str]:
        if importlib.util.find_spec("numpy") is None:
            self.skipTest("no NumPy")
        more = {"PYTHONPATH": str(ROOT / "python"), "LD_LIBRARY_PATH": str(BUILD / "lib")}
        changed = unittest.mock.patch.dict(os.environ, more)
        changed.start()
        self.addCleanup(changed.stop)
        return [sys.executable, str(self.SOURCE)]


class Python(PythonPrograms):
    def test_lines_of_many_faults(self) -> None:
        """Not each fault looks for its line, but of every 16 one does."""
        data = self.report_of(self.words(), "two_lines", "--readahead=4K")
        text = self.SOURCE.read_text()
        for half in ("first", "second"):
            place = f"{self.SOURCE.name}:{text[: text.index(f'# the {half} half')].count(chr(10)) + 1} "
            faults = sum(s["count"] for s in data["sites"] if s["kind"] == "fault" and s["place"].startswith(place))
            self.assertAlmostEqual(faults, 2 * 4 * 512, delta=2 * 4 * 16)


class PythonTimes(PythonPrograms):
    """Advice follows from times, so the machine must be quiet."""

    def test_all(self) -> None:
        self.check_all(
            {
                "missing_preload": Case("missing preload", "a[other].max()", "a.preload(", "faults"),
                "lock_contention": Case("lock contention", "with hiroba.lock(3)", "hiroba.allreduce", "locks"),
                "load_imbalance": Case("load imbalance", "# the end of uneven", "hiroba.task", "computing"),
                "collective": Case("collective in inner loop", "hiroba.allreduce(mine[0])", "iallreduce", "collective"),
                "small_tasks": Case("tasks too small", "@hiroba.task(", "at least 100 us", "computing"),
            }
        )


if __name__ == "__main__":
    unittest.main()
