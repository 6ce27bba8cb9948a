"""Reports of runs: planted problems are named first, with array and line, and are gone from the remedied program.

report.py BUILD [TEST ...]
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BUILD = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else Path()
CASES = BUILD / "tests" / "programs" / "report_cases"
HIROBARUN = BUILD / "bin" / "hirobarun"
HIROBA = BUILD / "bin" / "hiroba"
# Open MPI starts jobs of root, and more ranks than cores, only if it is told so.
AS_ROOT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


def run(report: Path, *words: str, ranks: int = 2, nodes: int = 2, program: str = str(CASES)) -> Any:
    command = [str(HIROBARUN), "-n", str(ranks), "--nodes", str(nodes), "--report", str(report)]
    options = [word for word in words if word.startswith("--")]
    command += [*options, program, *(word for word in words if not word.startswith("--"))]
    environment = {**os.environ, **AS_ROOT, "HIROBA_TIMEOUT": "60"}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)


def line_of(text: str) -> int:
    """Of the first line of the program with this text."""
    source = (Path(__file__).parent / "report_cases.cpp").read_text().splitlines()
    return next(number for number, line in enumerate(source, 1) if text in line)


def seconds_of_others() -> float:
    """What all but this test and its children have computed since some time in the past; in a virtual machine also what
    the host has taken from it."""
    words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    user, nice, system, _idle, _wait, interrupts, soft, stolen = map(int, words)
    computed = (user + nice + system + interrupts + soft + stolen) / os.sysconf("SC_CLK_TCK")
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return computed - sum(usage.ru_utime + usage.ru_stime for usage in own)


def three_attempts(check: Callable[..., None]) -> Callable[..., None]:
    """Other work of the machine may hide a problem, or look like one; then it is there in some attempts only. Where
    other processes had much of the processors' time, a failure says nothing, and the test is skipped."""

    def attempt(*arguments: Any, **more: Any) -> None:
        for attempts_left in (2, 1, 0):
            begin, others = time.monotonic(), seconds_of_others()
            try:
                return check(*arguments, **more)
            except (AssertionError, subprocess.TimeoutExpired):
                share = (seconds_of_others() - others) / (time.monotonic() - begin) / (os.cpu_count() or 1)
                if share > 0.2:
                    raise unittest.SkipTest(f"other processes had {share:.0%} of the processors' time") from None
                if attempts_left == 0:
                    raise
        return None

    return attempt


class Reports(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def data(self, *words: str, ranks: int = 2, nodes: int = 2) -> dict[str, Any]:
        file = self.folder / "run.json"
        done = run(file, *words, ranks=ranks, nodes=nodes)
        self.assertEqual(done.returncode, 0, done.stderr)
        out: dict[str, Any] = json.loads(file.read_text())
        return out

    def require_wire(self, wire: str) -> None:
        if not list((BUILD / "lib" / "hiroba").glob(f"wire-{wire}*.so")):
            self.skipTest(f"no wire {wire} is built")

    def seconds(self, data: dict[str, Any], kind: str = "total") -> float:
        return max(float(rank["seconds"][kind]) for rank in data["ranks"])


@dataclass(frozen=True)
class Problem:
    """What is planted in a case of the program. The remedied one is run with `remedy` in the place of `options`."""

    rule: str
    array: str = ""
    text: str = ""  # of the line that is named
    kind: str = "total"  # the seconds that the remedy saves, each rank having a processor. Barriers take any time
    cost: str = "computing"  # the seconds that the problem costs, however many ranks share a processor
    options: tuple[str, ...] = ()
    remedy: tuple[str, ...] = ("remedied",)


PROBLEMS = {
    "false_sharing": Problem("false sharing", "B", "b[remedied ?", kind="faults", cost="faults"),
    "serial_fill": Problem("serial fill", "B", "the end of a fill", cost="coherence"),
    "missing_preload": Problem("missing preload", "B", "page += 8", cost="faults"),
    "lock_contention": Problem("lock contention", "", "sms_lock(3)", cost="locks"),
    "load_imbalance": Problem("load imbalance", "", "end of a step of uneven work"),
    "uneven_operations": Problem("load imbalance", "", "after uneven work"),
    "slow_rank": Problem("slow rank", "", "end of a step of a slow rank"),
    "worst_placement": Problem("worst placement", "B", "= step + i", cost="coherence"),
    "irregular_order": Problem("irregular order", "B", "rng_below(&random, pages)", cost="faults"),
    "thrashing": Problem(
        "cache that thrashes", "B", "i += 16", cost="faults", options=("--cache=1M",), remedy=("--cache=64M",)
    ),
    "short_epochs": Problem("short epochs", "", "the end of a short epoch", cost="coherence"),
    "collective": Problem("collective in inner loop", "", "if (!remedied) hiroba_allreduce", cost="collective"),
    "reduction": Problem("collective in inner loop", "", "else sum += sms_reduce_double", cost="collective"),
    "small_tasks": Problem("tasks too small", "", "hiroba::task(hiroba::out(b + i"),
}
OF_PAGES = (
    "false_sharing",
    "serial_fill",
    "missing_preload",
    "worst_placement",
    "irregular_order",
    "thrashing",
    "short_epochs",
)  # of several nodes


class Planted(Reports):
    def check_first(self, case: str, *options: str, ranks: int = 2, nodes: int = 2) -> dict[str, Any]:
        """The problem is named first, with array and line."""
        problem = PROBLEMS[case]
        data = self.data(case, *problem.options, *options, ranks=ranks, nodes=nodes)
        self.assertTrue(data["advice"], f"no advice on {case}")
        first = data["advice"][0]
        self.assertEqual(first["rule"], problem.rule, [entry["sentence"] for entry in data["advice"]])
        if problem.array:
            self.assertEqual(data["arrays"][first["array"]]["name"], problem.array)
            self.assertIn(f"`{problem.array}`", first["sentence"])
        if problem.text:
            self.assertIn(f"report_cases.cpp:{line_of(problem.text)}", first["sentence"])
        return data

    def check_remedied(self, case: str, *options: str, ranks: int = 2, nodes: int = 2) -> dict[str, Any]:
        good = self.data(case, *PROBLEMS[case].remedy, *options, ranks=ranks, nodes=nodes)
        self.assertEqual([entry["rule"] for entry in good["advice"]], [], good["advice"])
        return good

    @three_attempts
    def check(self, case: str) -> None:
        """Less than a half is left of what the problem costs; the time of the run is compared by Rows alone."""
        data, good, cost = self.check_first(case), self.check_remedied(case), PROBLEMS[case].cost
        self.assertLess(self.seconds(good, cost), 0.5 * self.seconds(data, cost))

    def test_all(self) -> None:
        for case in PROBLEMS:
            with self.subTest(case):
                self.check(case)


class InTurn(Reports):
    @three_attempts
    def test_barriers_of_other_ranks(self) -> None:
        """Ranks that compute for equally long in all, one before each of two barriers, wait at both."""
        bad, good = self.data("uneven_in_turn"), self.data("uneven_in_turn", "remedied")["advice"]
        advice = bad["advice"]
        self.assertEqual([entry["rule"] for entry in advice], ["load imbalance"] * 2)
        for rank, loop in enumerate(("first", "second")):
            place = f"report_cases.cpp:{line_of(f'the end of the {loop} loop')})"
            sentence = next(entry["sentence"] for entry in advice if place in entry["sentence"])
            self.assertRegex(sentence, rf"^rank {rank} computes for .*, [2-9][0-9.]* times as long as the others")
        self.assertEqual(good, [])


class Rows(Planted):
    """The same on 2 and 4 ranks, on 1, 2 and 4 nodes, over shared memory or a wire; a part of the work is enough.

    Where ranks share processors the whole time says little: a rank waits for each message until the other one has a
    processor, so preloads take as long as faults. What the problem costs is compared there: less than a half is left,
    of any rank. The time of the run is compared where each rank has a processor.
    """

    @three_attempts
    def check_row(self, case: str, ranks: int, nodes: int, *options: str) -> None:
        data = self.check_first(case, "part", *options, ranks=ranks, nodes=nodes)
        good = self.check_remedied(case, "part", *options, ranks=ranks, nodes=nodes)
        kind, cost = PROBLEMS[case].kind, PROBLEMS[case].cost
        self.assertLess(self.seconds(good, cost), 0.5 * self.seconds(data, cost))
        if ranks <= len(os.sched_getaffinity(0)):
            self.assertLess(self.seconds(good, kind), self.seconds(data, kind))

    def test_all(self) -> None:
        for ranks, nodes in ((2, 1), (4, 4)):  # 4 ranks of 2 nodes: over MPI
            for case in PROBLEMS:
                if nodes > 1 or case not in OF_PAGES:
                    with self.subTest(case, ranks=ranks, nodes=nodes):
                        self.check_row(case, ranks, nodes)

    def test_ucx(self) -> None:
        self.require_wire("ucx")
        for case in PROBLEMS:
            with self.subTest(case):
                self.check_row(case, 4, 4, "short", "--transport=ucx")

    def test_mpi(self) -> None:
        self.require_wire("mpi-mpich")
        for case in PROBLEMS:
            if case == "slow_rank":  # a thread of the wire uses the processor that the rank has not: it looks uneven
                continue
            with self.subTest(case):
                self.check_row(case, 4, 2, "short", "--transport=mpi", "--mpi=mpich")


class Long(Reports):
    """Ten million page faults, on 4 ranks of 4 nodes: sizes stay within bounds. Minutes."""

    def memory(self, *options: str, many: str) -> dict[str, int]:
        words = [str(HIROBARUN), "-n", "4", "--nodes", "4", "--cache", "1M", "--readahead", "4K", *options]
        done = subprocess.run(
            [*words, str(CASES), "faults", many], capture_output=True, text=True, timeout=3000, check=False
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        print(f"{' '.join(words[1:])}:\n{done.stdout}", file=sys.stderr)
        return {rank: int(size) for rank, size in re.findall(r"rank (\d): (\d+) KiB", done.stdout)}

    def test_ten_million_faults(self) -> None:
        page = self.folder / "run.html"
        with_report = self.memory("--report", str(page), many="2500000")
        data = json.loads(page.read_text().split('id="data">')[1].split("</script>")[0])
        faults = sum(part["faults"] for part in data["arrays"][0]["ranks"])
        self.assertGreaterEqual(faults, 10**7)
        self.assertGreaterEqual(sum(site["count"] for site in data["sites"] if site["kind"] == "fault"), 10**7)
        without = self.memory(many="100000")
        more = max(with_report[rank] - without[rank] for rank in without)
        seconds = self.seconds(data)
        print(f"{faults:,} faults in {seconds:.0f} s: page {page.stat().st_size / 1e6:.2f} MB, at most {more} KiB more "
              "memory of a rank", file=sys.stderr)  # fmt: skip
        self.assertLess(page.stat().st_size, 5e6)
        self.assertLess(more, 16 * 1024)


class Good(Reports):
    """Programs without a problem have no advice."""

    APPS = (
        ("stencil_sms", "--size", "128"),
        ("md_hiroba", "--steps", "20"),
        ("barnes_hut_sms", "--steps", "5"),
        ("fdtd_sms", "--size", "48"),
        ("fdtd_smint", "--size", "48"),
        ("kmeans_hiroba",),
        ("cholesky_hiroba",),
        ("heat_tasks",),
        ("heat_openacc",),
        ("bank_hiroba", "--steps", "20"),
        ("cg_global",),
        ("ep_global",),
        ("fft3d_hiroba",),
        ("lu", "600"),
        ("laplace_hiroba", "--size", "1024", "--steps", "50"),
        ("nbody_hiroba", "--steps", "5"),
        ("rbtree_hiroba",),
        ("sort_hiroba", "--steps", "5"),
        ("stencil27_sms", "--size", "96"),
        ("stencil27_smint", "--size", "96"),
        ("cholesky_auto", "--size", "1024"),
        ("laplace_auto", "--size", "1024", "--steps", "50"),
        ("nbody_auto", "--steps", "5"),
        ("matvec",),
        ("producer_consumer",),
    )

    def test_apps(self) -> None:
        self.check_apps(2, 2)

    def check_apps(self, ranks: int, nodes: int) -> None:
        for name, *words in self.APPS:
            program = BUILD / "bin" / name
            if program.exists():
                with self.subTest(name, ranks=ranks, nodes=nodes):
                    self.check(program, ranks, nodes, *words)
            else:
                print(f"{name} is not built", file=sys.stderr)

    @three_attempts
    def check(self, program: Path, ranks: int, nodes: int, *words: str) -> None:
        file = self.folder / f"{program.name}.json"
        command = [str(HIROBARUN), "-n", str(ranks), "--nodes", str(nodes), "--report", str(file), str(program), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        data = json.loads(file.read_text())
        self.assertEqual([entry["sentence"] for entry in data["advice"]], [], program.name)
        for site in data["sites"]:
            self.assertTrue(site["place"] or site["call"], site)


class GoodRows(Good):
    """The same on one node, and with several ranks on each."""

    def test_apps(self) -> None:
        for ranks, nodes in ((2, 1), (4, 2)):
            self.check_apps(ranks, nodes)


class Files(Reports):
    """What a user finds in the end, also if something went wrong."""

    def test_same_numbers_as_stats(self) -> None:
        file = self.folder / "run.json"
        done = run(file, "missing_preload", "--stats")
        self.assertEqual(done.returncode, 0, done.stderr)
        data = json.loads(file.read_text())
        for rank in data["ranks"]:
            seconds = rank["seconds"]
            told = re.search(
                rf"rank {rank['rank']}: times: ([\d.]+) s: ([\d.]+) computing, ([\d.]+) waiting in coll", done.stderr
            )
            assert told is not None, done.stderr
            # The job runs on between the two readings of the clock.
            for text, of in zip(told.groups(), ("total", "computing", "collective"), strict=True):
                self.assertAlmostEqual(float(text), seconds[of], delta=0.01 + 0.01 * seconds[of])
        for part in data["arrays"][0]["ranks"]:
            self.assertIn(f"rank {part['rank']}: B: {part['faults']} faults, {part['fetched']} pages", done.stderr)
            faults = sum(s["count"] for s in data["sites"] if s["kind"] == "fault" and s["rank"] == part["rank"])
            self.assertEqual(faults, part["faults"])
        allocations = {site["place"] for site in data["sites"] if site["call"].startswith("sms_mapalloc")}
        self.assertEqual(allocations - {""}, {f"report_cases.cpp:{line_of('sms_mapalloc(dim')}"})
        fetched = sum(rank["fetched_from"][1 - rank["rank"]] for rank in data["ranks"])
        self.assertEqual(fetched, sum(part["bytes_fetched"] for part in data["arrays"][0]["ranks"]))

    def test_operations_of_stats(self) -> None:
        """By place, size and algorithm: what --stats prints is in the data, and what the program computes between."""
        file = self.folder / "run.json"
        done = run(file, "collective", "part", "short", "short", "--stats")
        self.assertEqual(done.returncode, 0, done.stderr)
        sites = json.loads(file.read_text())["sites"]
        calls = int(done.stdout.split(" times", 1)[0])
        self.assertGreater(calls, 0)
        for site in (site for site in sites if site["call"].startswith("hiroba_allreduce")):
            self.assertEqual((site["count"], site["amount"]), (calls, 8 * calls))
            self.assertRegex(
                done.stderr,
                rf"rank {site['rank']}: hiroba_allreduce at {re.escape(site['place'])}: {calls} times of 8 B "
                rf"{site['way']}, {site['seconds']:.3f} s",
            )
            self.assertGreater(site["before"], 0.0005)
        self.assertEqual(sum(site["call"].startswith("hiroba_allreduce") for site in sites), 2)

    def test_placement(self) -> None:
        """What rank 0 says of homes is the sum of what the data has."""
        file = self.folder / "run.json"
        done = run(file, "worst_placement", "--stats")
        self.assertEqual(done.returncode, 0, done.stderr)
        (array,) = json.loads(file.read_text())["arrays"]
        alone = sum(part["alone"] for part in array["ranks"])
        self.assertGreater(alone, 0)
        self.assertIn(f"placement of B: homes fixed: {alone} pages", done.stderr)

    def test_arrays_of_one_name(self) -> None:
        """They are one entry, with the sums of each rank."""
        (array,) = self.data("twins")["arrays"]
        self.assertEqual((array["name"], array["count"], array["pages"]), ("B", 2, 4))
        self.assertEqual([(part["rank"], part["faults"]) for part in array["ranks"]], [(0, 0), (1, 2)])
        self.assertEqual([sum(part["heat"]["fetched"]) for part in array["ranks"]], [0, 2])

    def test_off(self) -> None:
        words = [str(HIROBARUN), "-n", "2", str(CASES), "false_sharing"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr, list(self.folder.iterdir())), (0, "", []))

    def over_wire(self, wire: str, *words: str) -> None:
        self.require_wire(wire)
        page = self.folder / "run.html"
        done = run(page, "false_sharing", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(list(self.folder.iterdir()), [page])
        data = json.loads(page.read_text().split('id="data">')[1].split("</script>")[0])
        self.assertEqual(data["why_incomplete"], "")
        for rank in data["ranks"]:
            self.assertTrue(rank["complete"])
            self.assertGreater(rank["network"]["bytes"], 1000)
        self.assertGreater(data["ranks"][1]["fetched_from"][0], 1000 * 4096)

    def test_over_ucx(self) -> None:
        self.over_wire("ucx", "--transport=ucx")

    def test_over_mpi(self) -> None:
        """There rank 0 collects the records."""
        self.over_wire("mpi-mpich", "--transport=mpi", "--mpi=mpich")

    def test_rules_of_the_docs(self) -> None:
        """The table of docs/report.md has the rules and their limits, and each rule has a planted problem."""
        root = Path(__file__).resolve().parents[2]
        sys.path.insert(0, str(root / "python"))
        from hiroba.report.rules import RULES

        text = (root / "docs" / "report.md").read_text().split("## What it looks for")[1]
        rows = {cells[1].strip(): cells[3].strip() for cells in (line.split("|") for line in text.splitlines())
                if len(cells) == 6}  # fmt: skip
        for rule in RULES:
            limit = rows.get(rule.name, "")
            written = float(limit.split()[0]) if limit else 0
            scale = 0.01 if limit.endswith("%") else 1e-6 if limit.endswith("us") else 1
            self.assertAlmostEqual(written * scale, rule.limit, 9, f"docs/report.md: {rule.name}")
        self.assertEqual({rule.name for rule in RULES}, {problem.rule for problem in PROBLEMS.values()})

    def test_names_of_the_docs(self) -> None:
        """The tables of docs/report.md name all that the data has, and it has all that they name."""
        file = self.folder / "run.json"
        self.assertEqual(run(file, "lock_contention", "part", "--power").returncode, 0)
        data = json.loads(file.read_text())
        self.assertEqual(run(file, "missing_preload", "part").returncode, 0)
        more = json.loads(file.read_text())
        collective = self.data("collective", "part", "short", "short")
        found: set[str] = set()
        values = {"options", "environment", "waited_for"}  # their names are of options, of variables, and of ranks

        def collect(value: Any) -> None:
            if isinstance(value, list):
                for part in value:
                    collect(part)
            if isinstance(value, dict):
                found.update(value)
                for name, part in value.items():
                    if name not in values:
                        collect(part)

        for part in (data, more, collective):
            collect(part)
        text = (Path(__file__).resolve().parents[2] / "docs" / "report.md").read_text().split("## The data")[1]
        named = set(re.findall(r"`([a-z_]+)`", text))
        kinds = {"fault", "barrier", "lock", "task", "copy", "region", "coherence", "preload"}
        self.assertEqual((found - named, named - found - kinds), (set(), set()))

    def test_without_lines(self) -> None:
        bare = self.folder / "bare"
        subprocess.run(["strip", "-g", "-o", bare, CASES], check=True)
        file = self.folder / "run.json"
        done = run(file, "lock_contention", program=str(bare))
        self.assertEqual(done.returncode, 0, done.stderr)
        data = json.loads(file.read_text())
        self.assertTrue(any("lock_contention" in s["place"] and "(in bare)" in s["place"] for s in data["sites"]))
        self.assertIn("-g", data["hint"])

    def test_compare(self) -> None:
        slow, fast = self.folder / "slow.html", self.folder / "fast.json"
        self.assertEqual(run(slow, "slow_rank").returncode, 0)
        self.assertEqual(run(fast, "slow_rank", "remedied").returncode, 0)

        def compare(*words: object) -> subprocess.CompletedProcess[str]:
            command = [str(HIROBA), "compare", *map(str, words)]
            return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

        self.assertEqual(compare(fast, fast).returncode, 0)
        words = f"{HIROBA} compare {fast} {fast} >/dev/full"
        full = subprocess.run(["sh", "-c", words], capture_output=True, text=True, timeout=300, check=False)
        said = "hiroba: cannot write the output (No space left on device)\n"
        self.assertEqual((full.returncode, full.stderr), (1, said))
        slower = compare(fast, slow)
        self.assertEqual(slower.returncode, 1, slower.stdout)
        self.assertRegex(slower.stdout, r"^The second run took [0-9.]+ s instead of [0-9.]+, [0-9.]+ % slower; most")
        self.assertIn("new: slow rank", slower.stdout)
        better = compare(slow, fast)
        self.assertEqual(better.returncode, 0)
        self.assertIn("gone: slow rank", better.stdout)
        self.assertEqual(compare("--limit", "1000000", fast, slow).returncode, 0)
        for wrong in (CASES, self.folder / "nothing"):
            refused = compare(fast, wrong)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(str(wrong), refused.stderr)


if __name__ == "__main__":
    unittest.main()
