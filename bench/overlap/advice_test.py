"""What the benchmark concludes from figures, against examples computed by hand. Needs no MPI."""

from __future__ import annotations

import json
import math
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import advice
import figures
from advice import Use
from contestants import FULL, NORMAL, SPARE, THREAD, described
from figures import Case, Figures, Found
from harness import BenchmarkError

US = 1e-6


def entry(
    size: int, comm: float, comp: float, block: float, ovlp: float, mode: str = NORMAL, place: str = FULL, **more: Any
) -> Found:
    values = {"nbcomm": comm, "slowdown": 1.0, "spread": 0.01, "same_bits": True} | more
    hidden = (block - ovlp) / min(comm, comp)
    case = Case("mpi", mode, place, "static", 2, "alltoall", size, size // 8, 64)
    return {case: Figures(comm=comm, comp=comp, block=block, ovlp=ovlp, ratio=ovlp / block, hidden=hidden, **values)}


# Without a progress thread nothing is hidden. With one on a spare core 0.5 at 1 KiB and 0.7 at 4 KiB are hidden, the
# collective takes 12 and 48 us, and the computation 1.2 times as long, for a core less computes.
MEASURED = (
    entry(1024, 10 * US, 20 * US, 30 * US, 30 * US)
    | entry(4096, 40 * US, 20 * US, 60 * US, 60 * US)
    | entry(1024, 12 * US, 24 * US, 36 * US, 30 * US, THREAD, SPARE)
    | entry(4096, 48 * US, 24 * US, 72 * US, 55.2 * US, THREAD, SPARE)
)


class LikeTest(unittest.TestCase):
    def prospect(self, mode: str, place: str, use: Use) -> tuple[float, float]:
        found = advice.Measured(MEASURED).prospect(advice.Way("mpi", mode, place, "static", 2), use)
        return found.blocking, found.overlapped

    def test_between_two_measured_sizes(self) -> None:
        """2 KiB lies half way between 1 and 4 KiB: blocking takes sqrt(10 * 40) = 20 us, and 24 us with the thread, of
        which 0.6 are hidden by 30 us of computation, which are 36 then: 24 + 36 - 0.6 * 24 = 45.6, a hundred times."""
        blocking, overlapped = self.prospect(THREAD, SPARE, Use("alltoall", 2048, 100, 30 * US))
        self.assertAlmostEqual(blocking, 5000 * US)
        self.assertAlmostEqual(overlapped, 4560 * US)
        blocking, overlapped = self.prospect(NORMAL, FULL, Use("alltoall", 2048, 100, 30 * US))
        self.assertAlmostEqual(overlapped, blocking)

    def test_little_computation_hides_little(self) -> None:
        """10 us of computation are 12: 24 + 12 - 0.6 * 12 = 28.8, beside 30 before."""
        blocking, overlapped = self.prospect(THREAD, SPARE, Use("alltoall", 2048, 1, 10 * US))
        self.assertAlmostEqual(blocking, 30 * US)
        self.assertAlmostEqual(overlapped, 28.8 * US)

    def test_much_computation_pays_for_the_core(self) -> None:
        """1 ms of computation is 1.2 ms: it loses 200 us, and 24 us of communication cannot make up for them."""
        blocking, overlapped = self.prospect(THREAD, SPARE, Use("alltoall", 2048, 1, 1000 * US))
        self.assertAlmostEqual(overlapped - blocking, (24 + 1200 - 14.4 - 1020) * US)

    def test_a_hidden_part_below_the_scatter_is_none(self) -> None:
        """12 us are less than a spread of 0.9 of 30 us, so nothing counts as hidden at 1 KiB, and 0.35 at 2 KiB."""
        noisy = MEASURED | entry(1024, 12 * US, 24 * US, 36 * US, 30 * US, THREAD, SPARE, spread=0.9)
        way = advice.Way("mpi", THREAD, SPARE, "static", 2)
        found = advice.Measured(noisy).prospect(way, Use("alltoall", 2048, 1, 30 * US))
        self.assertAlmostEqual(found.overlapped, (24 + 36 - 0.35 * 24) * US)

    def test_outside_of_what_was_measured(self) -> None:
        """Larger: the time grows with the size; smaller: it stays. Ratios stay."""
        self.assertAlmostEqual(self.prospect(NORMAL, FULL, Use("alltoall", 8192, 1, 0))[0], 80 * US)
        self.assertAlmostEqual(self.prospect(NORMAL, FULL, Use("alltoall", 8, 1, 0))[0], 10 * US)
        text, _ = advice.like(MEASURED, [Use("alltoall", 8192, 1, 0)])
        self.assertIn("Larger than any measured size, so their times are scaled: alltoall of 8 KiB", text)
        text, _ = advice.like(MEASURED, [Use("alltoall", 512, 1, 0), Use("alltoall", 1024, 1, 0)])
        self.assertTrue(text.endswith("so they have the time of the smallest: alltoall of 512 B"), text)

    def test_table_and_sentence(self) -> None:
        uses = [Use("alltoall", 2048, 100, 30 * US), Use("alltoall", 1024, 0, 0)]
        text, kept = advice.like(MEASURED, uses)
        all_of = [row for row in kept if row["use"] == "all" and row["mode"] == THREAD]
        self.assertAlmostEqual(all_of[0]["gain"], 440 * US)
        self.assertEqual(sum(line.startswith("alltoall: ") for line in text.splitlines()), 2)  # one library, two uses
        self.assertEqual(sum(line.startswith("all: ") for line in text.splitlines()), 2)  # two ways
        self.assertIn("would gain 8.8 % at best, with a progress thread on a spare core (mpi, static)", text)
        text, _ = advice.like(MEASURED, [Use("alltoall", 2048, 1, 1000 * US)])
        self.assertIn("would not gain enough to be worth it", text)

    def test_not_measured(self) -> None:
        with self.assertRaisesRegex(BenchmarkError, "measure it: --collectives scan"):
            advice.like(MEASURED, [Use("scan", 8, 1, 0)])

    def test_file(self) -> None:
        good = {"collective": "alltoall", "bytes": 2048, "calls": 100, "compute_seconds_between": 3e-05}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "app.json"
            path.write_text(json.dumps([good]))
            self.assertEqual(advice.read_uses(path), [Use("alltoall", 2048, 100, 3e-05)])
            site = {"kind": "collective", "call": "hiroba_ialltoall(x)", "rank": 0, "count": 100, "amount": 204800}
            sites = [
                site | {"before": 3e-03},
                site | {"before": 1, "rank": 1},
                {"kind": "fault", "call": "", "rank": 0},
            ]
            path.write_text(json.dumps({"hiroba_report": 1, "sites": sites}))
            self.assertEqual(advice.read_uses(path), [Use("alltoall", 2048, 100, 3e-05)])
            for bad, told in [
                ("[", "Expecting"),
                ("[]", "a list of calls"),
                (json.dumps([good | {"size": 1}]), "entry 0 must have exactly"),
                (json.dumps([good, good | {"calls": -1}]), "entry 1: "),
                (json.dumps([good | {"bytes": "1 MiB"}]), "numbers from 0"),
            ]:
                path.write_text(bad)
                with self.assertRaisesRegex(BenchmarkError, told):
                    advice.read_uses(path)


class AdviceTest(unittest.TestCase):
    def test_pays(self) -> None:
        """The overlapped program, 55.2 us, beside the program as it is, 60; not beside the slower one with a thread."""
        pays = "Alltoall of 4 KiB pays here: 0.92 of blocking, with a progress thread on a spare core (mpi, static)"
        self.assertEqual(advice.advice(MEASURED), f"Overlap with 2 ranks: {pays}.")

    def test_does_not_pay(self) -> None:
        only = {case: f for case, f in MEASURED.items() if case.mode == NORMAL}
        self.assertIn("does not pay: at best 1.00 of blocking, without a progress thread", advice.advice(only))
        noisy = MEASURED | entry(4096, 48 * US, 24 * US, 72 * US, 55.2 * US, THREAD, SPARE, spread=0.2)
        self.assertIn("may pay: 0.92 of blocking", advice.advice(noisy))

    def test_the_largest_point_counts(self) -> None:
        larger = {Case(**(case.__dict__ | {"n": 128})): f for case, f in entry(4096, 1.0, 1.0, 2.0, 1.0).items()}
        self.assertIn("Alltoall of 4 KiB pays here: 0.50 of blocking", advice.advice(MEASURED | larger))

    def test_targets(self) -> None:
        """Of Hiroba: the worst ratio, comm beside the best MPI, comp with a progress thread beside without."""

        def of(library: str, part: Found) -> Found:
            return {Case(**(case.__dict__ | {"library": library})): f for case, f in part.items()}

        self.assertEqual(advice.targets(MEASURED), [])
        rivals = of("one", entry(1024, 10 * US, 20 * US, 30 * US, 30 * US)) | of("two", entry(1024, 8 * US, 9, 9, 9))
        ours = entry(1024, 4 * US, 20 * US, 25 * US, 24 * US) | entry(1024, 4 * US, 21 * US, 25 * US, 26 * US, THREAD)
        found = [(round(target.value, 3), target.limit) for target in advice.targets(rivals | of("hiroba", ours))]
        self.assertEqual(found, [(1.04, 1.02), (0.5, 0.9), (1.05, 1.02)])


class FiguresTest(unittest.TestCase):
    def line(self, **means: float) -> dict[str, Any]:
        line: dict[str, Any] = {"same_bits": True}
        phases = {"nbcomm": 1.0, "ovlp_comp": 3.0} | means
        return line | {name: {"mean": value, "sd": 0.0} for name, value in phases.items()}

    def test_medians_of_rounds(self) -> None:
        lines = [
            self.line(comm=1, comp=2, block=3, ovlp=2.5),
            self.line(comm=1, comp=2, block=3.2, ovlp=2.4),
            self.line(comm=4, comp=2, block=9, ovlp=6),
        ]
        found = Figures.of(lines, "mean")
        self.assertEqual((found.comm, found.comp, found.block, found.ovlp), (1, 2, 3.2, 2.5))
        self.assertAlmostEqual(found.ratio, 0.75)  # of 0.833, 0.75, 0.667
        self.assertAlmostEqual(found.hidden, 0.8)  # of 0.5, 0.8, 1.5
        self.assertAlmostEqual(found.slowdown, 1.5)
        self.assertAlmostEqual(found.spread, (6.1 - 3.1) / 3.2)  # of block; of ovlp it is (4.25 - 2.45) / 2.5
        self.assertFalse(found.hidden_known)

    def test_one_round(self) -> None:
        line = self.line(comm=1, comp=2, block=4, ovlp=2.5)
        line["block"]["sd"], line["ovlp"]["sd"] = 0.4, 0.5
        self.assertAlmostEqual(Figures.of([line], "mean").spread, 0.2)
        for phase in ("comm", "nbcomm", "comp", "block", "ovlp", "ovlp_comp"):
            line[phase] |= {"q1": 3.0, "median": 4.0, "q3": 4.5}
        line["ovlp"] |= {"q3": 5.0}
        self.assertAlmostEqual(Figures.of([line], "median").spread, 0.5)

    def test_kept_and_read_again(self) -> None:
        self.assertEqual(figures.from_json(json.loads(json.dumps(figures.as_json(MEASURED)))), MEASURED)

    def test_texts(self) -> None:
        self.assertEqual([figures.size_text(size) for size in (8, 1024, 3 << 20)], ["8 B", "1 KiB", "3 MiB"])
        self.assertEqual([figures.seconds_text(s) for s in (2, 0.0125, 3e-6)], ["2 s", "12.5 ms", "3 us"])
        self.assertTrue(math.isclose(advice.between([(1, 4), (16, 8)], 4, times=False), 6))


class LibraryTest(unittest.TestCase):
    def test_described(self) -> None:
        library = described(
            "intel:mpiicc:mpiexec -ppn {per_node}:I_MPI_ASYNC_PROGRESS=1:A=1,I_MPI_ASYNC_PROGRESS_PIN={cpu}"
        )
        self.assertEqual((library.name, library.compiler), ("intel", "mpiicc"))
        self.assertEqual(library.launch, "mpiexec -ppn {per_node} -n {ranks}")
        self.assertEqual(library.modes["threadpin"].variables, {"A": "1", "I_MPI_ASYNC_PROGRESS_PIN": "{cpu}"})
        for bad in ("intel:mpiicc", "intel:mpiicc:mpiexec:FAST"):
            with self.assertRaises(BenchmarkError):
                described(bad)


if __name__ == "__main__":
    unittest.main()
