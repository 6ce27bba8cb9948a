"""The pictures and the table of costs are what tools/pictures.py draws, and the rules of that program. Standard library
only."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench")]
import front_page  # noqa: E402
import harness  # noqa: E402
import pictures  # noqa: E402
from drawing import Drawing  # noqa: E402

REMEDY = "run ./dev docs (python3 tools/pictures.py), and commit the file"


class Committed(unittest.TestCase):
    def test_files_are_what_is_drawn(self) -> None:
        files, problems = pictures.drawn(ROOT)
        self.assertEqual(problems, [])
        for path, text in files.items():
            self.assertTrue(path.exists() and path.read_text() == text, f"{path} differs: {REMEDY}")

    def test_every_picture_is_shown(self) -> None:
        pages = "".join(page.read_text() for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
        for path in (ROOT / "docs" / "pictures").iterdir():
            self.assertTrue(f"pictures/{path.name})" in pages, f"no page shows {path.name}")


class Floors(unittest.TestCase):
    TEXT = (
        "hiroba_floor(a SOURCES a/x.cpp)\nhiroba_floor(b USES a\n  SOURCES b/x.cpp)\n"
        "hiroba_floor(c USES a SOURCES c/x.cpp)\n"
    )
    TOP = "hiroba_floor(d SOURCES d/x.cpp USES c b)\n"

    def test_uses_are_read(self) -> None:
        found = pictures.floors_of(self.TEXT + self.TOP)
        self.assertEqual(found, {"a": [], "b": ["a"], "c": ["a"], "d": ["c", "b"]})
        room = "hiroba_floor(d/room SOURCES d/room/x.cpp USES a b)\n"
        self.assertEqual(pictures.floors_of(self.TEXT + self.TOP + room)["d"], ["c", "b", "a"])

    def test_floors_beside_each_other(self) -> None:
        self.assertEqual(pictures.levels_of(pictures.floors_of(self.TEXT + self.TOP)), [["a"], ["b", "c"], ["d"]])


class Overlap(unittest.TestCase):
    def test_words_on_words(self) -> None:
        d = Drawing(100, "x")
        d.text(20, 50, "one")
        d.text(20, 70, "two")
        self.assertEqual(d.problems(), [])
        d.text(30, 55, "three")
        self.assertEqual(d.problems(), ["x: 'one' and 'three' overlap"])

    def test_words_outside(self) -> None:
        d = Drawing(100, "x")
        d.text(790, 50, "too long")
        self.assertEqual(d.problems(), ["x: 'too long' leaves the picture"])


class Costs(unittest.TestCase):
    """New figures from a file as bench/harness.py writes it."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "docs" / "results").mkdir(parents=True)

    def kept(self, *figures: dict[str, object], cpu: str = "A") -> None:
        around = {"cpu": cpu, "cores": 2, "kernel": "6", "mpi": "M"}
        rows = [{"what": "x / y", "plot": "x", "command": "./dev bench b", "figures": list(figures)}]
        front_page.path_of(self.root).write_text(json.dumps({"circumstances": around, "rows": rows}))

    def figure(self, result: str, **source: object) -> dict[str, object]:
        of = {"result": result, "samples": "s", "name": "ours", "metric": "seconds"} | source
        return {"label": "", "when": "2026-01-01", "ratio": 9.0, "from": of}

    def bench(self, cpu: str = "A") -> None:
        """Ratios of the rounds: 0.5, 2, 0.8."""
        runs = {"ours": [1, 4, 8], "theirs": [2, 2, 10]}
        samples = harness.Samples({name: [{"seconds": s, "ratio": s / 2} for s in runs[name]] for name in runs})
        around = {"when": "2026-02-03 04:05:06 +0000", "cpu": cpu, "cores": 4, "kernel": "7", "mpi": "N"}
        harness.write(self.root, "b", around, {"s": samples}, [])

    def test_new_figures(self) -> None:
        half = {"other": "theirs", "other metric": "ratio"}
        own = {"metric": "ratio", "inverse": True}
        self.kept(
            self.figure("b", other="theirs"),
            self.figure("b", **half, scale=3),
            self.figure("b", **own),
            self.figure("absent"),
        )
        self.bench()
        front_page.update(self.root, self.root)
        results = front_page.read(self.root)
        figures = results["rows"][0]["figures"]
        self.assertEqual([figure["ratio"] for figure in figures], [0.8, 4.8, 0.5, 9.0])
        self.assertEqual([figure["when"] for figure in figures], [*["2026-02-03"] * 3, "2026-01-01"])
        self.assertEqual(results["circumstances"], {"cpu": "A", "cores": 4, "kernel": "7", "mpi": "N"})
        table = front_page.with_table(f"a\n{front_page.HEAD}| old | 1 | 2 |\n\nb\n", results)
        self.assertEqual(table, f"a\n{front_page.HEAD}| x / y | 0.80, 4.80, 0.50, 9.00 | `./dev bench b` |\n\nb\n")

    def test_two_processors_are_refused(self) -> None:
        self.kept(self.figure("b"), self.figure("absent"))
        self.bench("B")
        with self.assertRaisesRegex(SystemExit, "another processor"):
            front_page.update(self.root, self.root)
        self.kept(self.figure("b"))
        front_page.update(self.root, self.root)
        self.assertEqual(front_page.read(self.root)["circumstances"]["cpu"], "B")


if __name__ == "__main__":
    unittest.main()
