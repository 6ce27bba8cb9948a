"""Reports of runs: who waited when, the critical path, energy; and hiroba top, which shows a job while it runs.

report_running.py BUILD [TEST ...]
"""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import termios
import time
import unittest
from pathlib import Path

from report import BUILD, CASES, HIROBA, HIROBARUN, Reports, line_of, run, three_attempts


class Traces(Reports):
    """Who waited when, the critical path, and energy."""

    def test_bins_are_sums_of_sites(self) -> None:
        data = self.data("missing_preload", ranks=4)
        for rank in data["ranks"]:
            line = rank["timeline"]
            of_rank = [site for site in data["sites"] if site["rank"] == rank["rank"]]
            for kind, kinds in (("faults", ["fault"]), ("collective", ["barrier", "collective"])):
                seconds = sum(site["seconds"] for site in of_rank if site["kind"] in kinds)
                self.assertAlmostEqual(sum(line[kind]), seconds, delta=0.01 * seconds + 0.001)
            self.assertEqual(len(line["events"]) % 5, 0)
            last = max(
                begin + 1e-3 * nanoseconds
                for begin, nanoseconds in zip(line["events"][::5], line["events"][1::5], strict=True)
            )
            at_end = sum(site["seconds"] for site in of_rank if site["call"] == "sms_shutdown")  # after the record ends
            self.assertLessEqual(1e-6 * last, rank["began"] + rank["seconds"]["total"] + at_end + 0.1)

    def test_preloads_are_no_computing(self) -> None:
        """Their start and the wait for them have a line and an array, and are a part of the time of the rank."""
        data = self.data("missing_preload", "remedied")
        sites = [site for site in data["sites"] if site["kind"] == "preload"]
        line = line_of("if (remedied) sms_preload(b, section)")
        for rank in data["ranks"]:
            here = [site for site in sites if site["rank"] == rank["rank"]]
            self.assertIn(f"report_cases.cpp:{line})", max(here, key=lambda site: site["seconds"])["place"])
            self.assertEqual({data["arrays"][site["array"]]["name"] for site in here}, {"B"})
            self.assertEqual(
                sum(site["amount"] for site in here), data["arrays"][0]["ranks"][rank["rank"]]["preloaded"]
            )
            seconds = sum(site["seconds"] for site in here)
            self.assertGreater(seconds, 0)
            self.assertAlmostEqual(rank["seconds"]["preloads"], seconds, delta=1e-3)
            self.assertAlmostEqual(sum(rank["timeline"]["preloads"]), seconds, delta=0.01 * seconds + 0.001)
            parts = ("computing", "collective", "locks", "faults", "preloads", "coherence")
            whole = sum(rank["seconds"][kind] for kind in parts)
            self.assertAlmostEqual(whole, rank["seconds"]["total"], delta=0.01)

    def test_coherence_of_locks(self) -> None:
        """What is done for coherence when a lock is taken and given back is told at the line, and is no computing."""
        data = self.data("lock_contention", "part", "short")
        places = {site["place"] for site in data["sites"] if site["call"] == "coherence of a lock"}
        for call in ("sms_lock(3)", "sms_unlock(3)"):
            self.assertTrue(any(f"report_cases.cpp:{line_of(call)})" in place for place in places), places)

    @three_attempts
    def test_path_of_the_slowest_rank(self) -> None:
        data = self.data("load_imbalance")
        sums = {part["rank"]: part for part in data["path"]["ranks"]}
        self.assertGreater(sums[0]["computing"], 0.8 * self.seconds(data, "computing"))
        whole = sum(part[kind] for part in sums.values() for kind in ("computing", "collective", "locks", "faults"))
        self.assertAlmostEqual(whole, self.seconds(data), delta=0.1 * self.seconds(data))
        self.assertRegex(data["path"]["sentences"][0], r"rank 0 has [0-9.]+ s, most of it computing")
        self.assertIn(f"report_cases.cpp:{line_of('void load_imbalance') + 3}", data["path"]["places"][0]["place"])

    def test_chain_of_tasks(self) -> None:
        data = self.data("chain", ranks=1, nodes=1)
        rank = data["ranks"][0]
        self.assertEqual((rank["tasks"], rank["chain"]), (96, 32))
        self.assertAlmostEqual(rank["seconds"]["chain"] / rank["seconds"]["tasks"], 3 / 4, delta=0.2)
        self.assertIn("report_cases.cpp", data["path"]["tasks"][0]["place"])

    def test_held_locks(self) -> None:
        sites = [site for site in self.data("held_locks")["sites"] if site["kind"] == "lock"]
        for lock, call, ranks in ((5, "sms_lock(5)", 2), (6, "sms_lock_shared(6)", 2), (7, "sms_trylock(7)", 1)):
            found = [site for site in sites if site["lock"] == lock]
            self.assertEqual([site["count"] for site in found], ranks * [5])
            for site in found:
                self.assertIn(f"report_cases.cpp:{line_of(call)}", site["place"])
                self.assertTrue(0.05 <= site["held"] < 2, site)
                self.assertEqual(site["amount"], 0)
        first = sum(site["seconds"] for site in sites if site["lock"] == 5)
        self.assertGreater(first, 0.04)  # one rank waits while the other one holds it

    def test_perfetto(self) -> None:
        file = self.folder / "run.perfetto.json"
        self.assertEqual(run(file, "lock_contention").returncode, 0)
        self.assertEqual(list(self.folder.iterdir()), [file])
        events = json.loads(file.read_text())["traceEvents"]
        locks = [event for event in events if event["ph"] == "X" and event["cat"] == "lock"]
        self.assertEqual({event["pid"] for event in locks}, {0, 1})
        self.assertEqual({event["args"]["lock"] for event in locks}, {3})
        self.assertIn(f"report_cases.cpp:{line_of('sms_lock(3)')}", locks[0]["args"]["place"])
        self.assertTrue(any(event["ph"] == "C" for event in events))

    def test_otf2(self) -> None:
        """The package otf2 of Debian is for the system's Python."""
        path = f"/usr/bin:{os.environ['PATH']}"
        found = subprocess.run(["python3", "-c", "import otf2"], env={**os.environ, "PATH": path}, check=False)
        folder = self.folder / "run.otf2"
        words = [str(HIROBARUN), "-n", "2", "--nodes", "2", "--report", str(folder), str(CASES), "missing_preload"]
        done = subprocess.run(
            words, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=300, check=False
        )
        if found.returncode != 0:
            self.assertEqual(done.returncode, 1)
            self.assertIn("install python3-otf2", done.stderr)
            self.skipTest("no package otf2: apt install python3-otf2")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(list(self.folder.iterdir()), [folder])
        count = (
            "import otf2, sys\n"
            "with otf2.reader.open(sys.argv[1]) as trace:\n"
            "    for place, event in trace.events:\n"
            "        print(type(event).__name__, place.group.name, event.region.name)\n"
        )
        read = subprocess.run(
            ["/usr/bin/python3", "-c", count, str(folder / "traces.otf2")],
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        self.assertEqual(read.returncode, 0, read.stderr)
        lines = read.stdout.splitlines()
        self.assertEqual(
            sum(line.startswith("Enter") for line in lines), sum(line.startswith("Leave") for line in lines)
        )
        for rank in (0, 1):
            self.assertTrue(any(f"rank {rank} page fault" in line for line in lines), read.stdout[:500])

    def test_otf2_replaces_no_other_folder(self) -> None:
        folder = self.folder / "mine.otf2"
        folder.mkdir()
        (folder / "kept").touch()
        done = run(folder, "false_sharing")
        self.assertEqual(done.returncode, 1)
        self.assertTrue((folder / "kept").exists())

    def test_energy(self) -> None:
        """Here counters may be unknown; what the table has is in the data."""
        data = self.data("load_imbalance", "--power", "--power-idle=0")
        self.assertEqual([rank["energy"] is not None for rank in data["ranks"]], [True, True])
        for rank in data["ranks"]:
            names = {part["name"] for part in rank["energy"]["spent"]}
            self.assertIn("computing", names)
        self.assertIsNone(self.data("load_imbalance")["ranks"][0]["energy"])


# Rule, seconds that the problem costs, text of a line of the program, remedy.
FORTRAN = {
    "lock_contention": ("lock contention", "locks", "!$omp critical", "clause reduction"),
    "load_imbalance": ("load imbalance", "computing", "!$omp parallel do ! uneven", "schedule(dynamic"),
    "serial_part": ("load imbalance", "computing", "!$omp parallel do ! after the serial", "in parallel regions"),
    "missing_preload": ("missing preload", "faults", "total + field(i) ! reads", "in a parallel loop"),
}


OBJECTS = {
    "variable": "field",
    "static": "static_rows()::rows",
    "malloc": "allocated() (report_objects.cpp:LINE)",
    "vector": "main (report_objects.cpp:LINE)",
}


class OpenMPPrograms(Reports):
    def built(self, source: str) -> str:
        if not (BUILD / "lib" / "libhiroba_openmp.so").exists():
            self.skipTest("no OpenMP over nodes is built")
        compiler = {".f90": "gfortran", ".cpp": "c++"}.get(Path(source).suffix, "cc")
        if shutil.which(compiler) is None:
            self.skipTest(f"no {compiler}")
        program = self.folder / "program"
        words = [str(BUILD / "bin" / "hirobacc"), "--cc", compiler, "-g", "-O2", "-fopenmp-nodes"]
        words += [str(Path(__file__).parent / source), "-o", str(program)]
        subprocess.run(words, check=True, timeout=300, cwd=self.folder)
        return str(program)


class OpenMP(OpenMPPrograms):
    """What is recorded of regions and objects, by function and line; no times."""

    def test_regions(self) -> None:
        file = self.folder / "run.json"
        done = run(file, "--stats", program=self.built("openmp_regions.c"))
        self.assertEqual(done.returncode, 0, done.stderr)
        data = json.loads(file.read_text())
        regions = [site for site in data["sites"] if site["kind"] == "region"]
        self.assertEqual([(site["rank"], site["count"]) for site in regions], [(0, 96), (1, 96)])
        place = regions[0]["place"]
        self.assertRegex(place, r"^main\._omp_fn\.0 \(openmp_regions\.c:[0-9]+\)$")
        for rank in (0, 1):
            self.assertRegex(done.stderr, rf"rank {rank}: region at {re.escape(place)}: [0-9.]+ s, 96 times")
        ends = [site for site in data["sites"] if site["call"] == "the end of a parallel region"]
        self.assertEqual({site["place"] for site in ends}, {place})

    def test_objects(self) -> None:
        """Faults have the variable, or the place of the allocation; lines are of the program, not of headers."""
        program = self.built("report_objects.cpp")
        lines = (Path(__file__).parent / "report_objects.cpp").read_text().splitlines()
        line = {text.partition("  // ")[2]: str(number) for number, text in enumerate(lines, 1)}
        for case, name in OBJECTS.items():
            with self.subTest(case):
                done = run(self.folder / "run.json", case, program=program)
                self.assertEqual(done.returncode, 0, done.stderr)
                sites = json.loads((self.folder / "run.json").read_text())["sites"]
                place = next(site["place"] for site in sites if f":{line[case]})" in site["place"])
                self.assertRegex(place, r"^main\._omp_fn\.[0-4] \(report_objects\.cpp:[0-9]+\)$")
                faults = [site for site in sites if site["kind"] == "fault" and site["place"] == place]
                allocated = line.get(f"allocates {case}", "")
                self.assertEqual({site["object"] for site in faults}, {name.replace("LINE", allocated)})


class OpenMPTimes(OpenMPPrograms):
    """Advice on critical sections and tasks. It follows from times, so the machine must be quiet."""

    @three_attempts
    def test_critical(self) -> None:
        """Waiting for a lock of OpenMP is told at the construct, and what is told to do is OpenMP's."""
        file = self.folder / "run.json"
        done = run(file, program=self.built("report_critical.c"))
        self.assertEqual(done.returncode, 0, done.stderr)
        first = json.loads(file.read_text())["advice"][0]
        self.assertEqual(first["rule"], "lock contention")
        self.assertRegex(first["sentence"], r"a lock of OpenMP, most at main\._omp_fn\.0 \(report_critical\.c:1[123]\)")
        self.assertIn("clause reduction", first["remedy"])

    def test_fortran(self) -> None:
        program = self.built("report_openmp.f90")
        for case in FORTRAN:
            with self.subTest(case):
                self.check_fortran(case, program)

    @three_attempts
    def check_fortran(self, case: str, program: str) -> None:
        """The procedure of the module, and a line of the construct or of the statement; with the remedy it is gone."""
        rule, cost, where, remedy = FORTRAN[case]
        runs = []
        for words in ((case,), (case, "remedied")):
            file = self.folder / "run.json"
            done = run(file, *words, program=program)
            self.assertEqual(done.returncode, 0, done.stderr)
            runs.append(json.loads(file.read_text()))
        first = runs[0]["advice"][0]
        self.assertEqual(first["rule"], rule, first["sentence"])
        source = (Path(__file__).parent / "report_openmp.f90").read_text()
        line = source[: source.index(where)].count("\n") + 1
        places = [rf"work::{case}\._omp_fn\.[0-9] \(report_openmp\.f90:{line + more}\)" for more in (0, 1, 2)]
        self.assertRegex(first["sentence"], "|".join(places))
        self.assertIn(remedy, first["remedy"])
        if rule == "missing preload":
            line = source[: source.index("allocate (field")].count("\n") + 1
            self.assertIn(f"the object allocated in work::{case} (report_openmp.f90:{line})", first["sentence"])
        self.assertEqual([entry["sentence"] for entry in runs[1]["advice"]], [])
        if cost == "computing":  # other work of the machine makes it longer, of all ranks
            good, bad = ([rank["seconds"][cost] for rank in data["ranks"]] for data in reversed(runs))
            self.assertLess(max(good) / sum(good), max(bad) / sum(bad))
        else:
            self.assertLess(self.seconds(runs[1], cost), self.seconds(runs[0], cost))

    def test_small_tasks(self) -> None:
        program = self.built("report_tasks.c")
        for ranks, nodes in ((2, 1), (2, 2), (4, 2)):
            with self.subTest(ranks=ranks, nodes=nodes):
                self.check_small_tasks(program, ranks, nodes)

    @three_attempts
    def check_small_tasks(self, program: str, ranks: int, nodes: int) -> None:
        """They are counted by their constructs, wherever they run; larger ones take less time and have no advice."""
        file, runs = self.folder / "run.json", []
        for words, text, count in (((), "#pragma omp task\n", 1 << 20), (("blocks",), "#pragma omp taskloop", 64)):
            done = run(file, *words, ranks=ranks, nodes=nodes, program=program)
            self.assertEqual(done.returncode, 0, done.stderr)
            data = json.loads(file.read_text())
            source = (Path(__file__).parent / "report_tasks.c").read_text()
            line = source[: source.index(text)].count("\n") + 1
            sites = [site for site in data["sites"] if site["kind"] == "task"]
            self.assertEqual(sum(site["count"] for site in sites), count)
            self.assertEqual(sum(rank["tasks"] for rank in data["ranks"]), count)
            for site in sites:
                self.assertRegex(site["place"], rf"^main\._omp_fn\.[0-9] \(report_tasks\.c:{line}\)$")
            for rank in data["ranks"]:
                seconds = sum(site["seconds"] for site in sites if site["rank"] == rank["rank"])
                self.assertAlmostEqual(rank["seconds"]["tasks"], seconds, delta=1e-3)
                self.assertLess(seconds, rank["seconds"]["total"])
            runs.append(data)
        planted, remedied = runs
        first = planted["advice"][0]
        self.assertEqual(first["rule"], "tasks too small")
        self.assertRegex(first["sentence"], r"1,048,576 tasks of main\._omp_fn\.[0-9] \(report_tasks\.c:[0-9]+\)")
        self.assertIn("grainsize", first["remedy"])
        self.assertEqual([entry["sentence"] for entry in remedied["advice"]], [])
        self.assertLess(self.seconds(remedied, "computing"), self.seconds(planted, "computing"))


class Top(Reports):
    """hiroba top: a job while it runs. Rank 0 of this one comes last to each barrier."""

    def job(self, *options: str) -> subprocess.Popen[bytes]:
        words = [str(HIROBARUN), "-n", "2", "--nodes", "2", *options, str(CASES), "endless"]
        job = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(job.terminate)
        return job

    def top(self, *words: object) -> subprocess.CompletedProcess[str]:
        command = [str(HIROBA), "top", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    @three_attempts
    def test_pictures(self) -> None:
        job = self.job("--report", str(self.folder / "run.json"))
        time.sleep(1)
        done = self.top(job.pid, "--every", 1, "--pictures", 2)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        picture = done.stdout.split("\n\n")[1].splitlines()
        self.assertRegex(picture[0], r"report_cases: 2 ranks on 2 nodes, [0-9]+ s")
        rank = [line.split() for line in picture[2:4]]
        self.assertEqual([words[0] for words in rank], ["0", "1"])
        self.assertGreater(float(rank[1][3]), 50)  # of its time it waits
        self.assertLess(float(rank[0][3]), 50)
        for words in rank:
            self.assertGreater(float(words[4]), 1)  # calls, faults, MB in a second
            self.assertGreater(float(words[5]), 5)
            self.assertGreater(float(words[6]), 0.1)
        self.assertIn("waits in sms_barrier for rank 0", done.stdout)

    def test_without_records(self) -> None:
        job = self.job()
        time.sleep(1)
        done = self.top(job.pid, "--every", 0.2, "--pictures", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("hirobarun --report", done.stdout)

    def test_terminal(self) -> None:
        """It ends by a key, and gives the terminal back."""
        job = self.job()
        time.sleep(1)
        mine, its = pty.openpty()
        before = termios.tcgetattr(its)
        shown = subprocess.Popen([str(HIROBA), "top", str(job.pid), "--every", "0.2"], stdin=its, stdout=its)
        text = b""
        while text.count(b"q ends this") < 2:
            text += os.read(mine, 4096)
        self.assertIn(b"report_cases: 2 ranks on 2 nodes", text)
        os.write(mine, b"q")
        self.assertEqual(shown.wait(timeout=120), 0)
        text += os.read(mine, 4096)
        self.assertTrue(text.endswith(b"\x1b[?1049l"), text[-40:])
        self.assertEqual(termios.tcgetattr(its), before)
        os.close(mine)
        os.close(its)

    def test_output_that_cannot_be_written(self) -> None:
        job = self.job()
        time.sleep(1)
        for place, why in (("/dev/full", "No space left on device"), ("&-", "Bad file descriptor")):
            words = f"{HIROBA} top {job.pid} --every 0.2 >{place}"
            done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, f"hiroba: cannot write the picture of the job ({why})\n")
        self.assertIsNone(job.poll())

    def test_ends_with_the_job(self) -> None:
        job = self.job()
        time.sleep(1)
        shown = subprocess.Popen([str(HIROBA), "top", str(job.pid), "--every", "0.2"], stdout=subprocess.DEVNULL)
        time.sleep(1)
        job.terminate()
        self.assertEqual(shown.wait(timeout=120), 0)

    def test_no_job(self) -> None:
        for which, why in (("1", "neither hirobarun nor a rank"), ("x", "no number of a process")):
            done = self.top(which)
            self.assertEqual(done.returncode, 1)
            self.assertIn(why, done.stderr)


if __name__ == "__main__":
    unittest.main()
