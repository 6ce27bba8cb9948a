"""Energy of jobs, on a tree of files that stands for the kernel's and changes as a machine of known power would.

power.py BUILD [TEST ...]
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

BUILD = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else Path()
PROGRAMS = BUILD / "tests" / "programs"
RANGE = 262143328850
NAMES = r"[^\n]*"


def count(path: Path, energy: int) -> None:
    """A counter's value, which others read at any time: so the file is never empty."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.pwrite(descriptor, f"{energy}\n".ljust(20, "\n").encode(), 0)
    os.close(descriptor)


class Machine:
    """One package of some watts, whose counter wraps around soon, and its memory."""

    def __init__(self, watts: float = 40, memory: float = 10) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.watts = {"intel-rapl:0": watts, "intel-rapl:0:0": memory}
        self.begun = time.monotonic()
        self.on = True
        for zone, name in (("intel-rapl:0", "package-0"), ("intel-rapl:0:0", "dram")):
            path = self.root / "class" / "powercap" / zone
            path.mkdir(parents=True)
            (path / "name").write_text(name + "\n")
            (path / "max_energy_range_uj").write_text(f"{RANGE}\n")
        self.write()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def write(self) -> None:
        seconds = time.monotonic() - self.begun
        for zone, watts in self.watts.items():
            energy = (RANGE - 30_000_000 + int(seconds * watts * 1e6)) % (RANGE + 1)
            path = self.root / "class" / "powercap" / zone / "energy_uj"
            count(path, energy)

    def run(self) -> None:
        while self.on:
            self.write()
            time.sleep(0.002)

    def __enter__(self) -> Machine:
        return self

    def __exit__(self, *_: object) -> None:
        self.on = False
        self.thread.join()
        self.folder.cleanup()


def run(words: list[object], options: list[object], settings: dict[str, str] | None = None) -> tuple[int, str, str]:
    command = [BUILD / "bin" / "hirobarun", *options, *words]
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | (settings or {}),
    )
    return done.returncode, done.stdout, done.stderr


def hiroba_power(root: Path, *words: object, **settings: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [str(word) for word in (BUILD / "bin" / "hiroba", "power", *words)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | {"HIROBA_POWER_ROOT": str(root), "HIROBA_POWER_NVML": "none"} | settings,
    )
    return done.returncode, done.stdout, done.stderr


class Row:
    """A line of the table: region, rank, times, seconds, joules, watts, J s, J above idle."""

    def __init__(self, line: str) -> None:
        words = line.split()
        self.name, self.rank = " ".join(words[:-7]), int(words[-7])
        self.times, self.seconds = words[-6], float(words[-5])
        self.known = words[-4] != "unknown"
        if self.known:
            self.joules, self.watts, self.product, self.above = map(float, words[-4:])


class Table:
    def __init__(self, error: str) -> None:
        self.text = error
        lines = [line.partition("power: ")[2] for line in error.splitlines() if "power: " in line]
        head = next(i for i, line in enumerate(lines) if line.startswith("region "))
        self.nodes = lines[:head]
        self.rows = [Row(line) for line in lines[head + 1 :]]

    def row(self, name: str, rank: int) -> Row:
        return next(row for row in self.rows if row.name == name and row.rank == rank)

    def joules(self) -> float:
        return float(re.search(r": ([\d.]+) J in", self.nodes[0])[1])  # type: ignore[index]


class Power(unittest.TestCase):
    def table(self, machine: Machine, words: list[object], *options: object) -> tuple[Table, str]:
        status, out, error = run(words, [*options, "--power", "--power-root", machine.root, "--power-nvml", "none"])
        self.assertEqual(status, 0, error)
        return Table(error), out

    def test_regions(self) -> None:
        with Machine() as machine:
            table, out = self.table(machine, [PROGRAMS / "power", "regions", 1.2], "-n", 2, "--power-idle", 20)
        watts = float(re.search(r"work: .* ([\d.]+) W, 2 ranks, known", out)[1])  # type: ignore[index]
        self.assertAlmostEqual(watts, 25, delta=2)
        self.assertIn("package-0, package-0/dram", table.nodes[0])
        # A rank that computes loses no more than this to the thread that samples. Alone it loses 0.2 %; beside other
        # processes a sample takes longer.
        cost = re.search(r"a sample every 20 ms takes \d+ us, ([\d.]+) % of one core", table.nodes[1])
        self.assertLess(float(cost[1]), 5 if "TESTS_SANITIZED" in os.environ else 2)  # type: ignore[index]
        work = table.row("region work", 0)
        self.assertEqual(work.times, "1")
        self.assertGreater(work.seconds, 1.15)
        self.assertAlmostEqual(work.joules, 25 * work.seconds, delta=2)
        self.assertAlmostEqual(work.product, work.joules * work.seconds, delta=0.1)
        self.assertAlmostEqual(work.above, work.joules - 10 * work.seconds, delta=0.1)
        waiting = table.row("waiting in sms_barrier", 1)
        self.assertAlmostEqual(waiting.seconds, work.seconds, delta=0.3)
        self.assertAlmostEqual(waiting.watts, 25, delta=2)
        self.assertEqual(table.row("region both", 1).times, "3")
        # What ranks did has all the energy of the machine.
        sampled = sum(row.joules for row in table.rows if row.times == "sampled" and row.known)
        self.assertAlmostEqual(sampled, table.joules(), delta=0.02 * table.joules())

    def test_idle_power_is_measured(self) -> None:
        with Machine() as machine:
            table, _ = self.table(machine, [PROGRAMS / "power", "regions", 0.5], "-n", 1)
        idle = re.search(r"J above ([\d.]+) W when idle", table.nodes[0])
        self.assertAlmostEqual(float(idle[1]), 50, delta=3)  # type: ignore[index]
        self.assertAlmostEqual(table.row("region work", 0).above, 0, delta=3)

    def test_virtual_nodes_are_one_machine(self) -> None:
        with Machine() as machine:
            table, _ = self.table(
                machine, [PROGRAMS / "power", "regions", 0.5], "-n", 3, "--nodes", 3, "--power-idle", 0
            )
        self.assertIn("node 2 is on the machine of node 0, whose energy is counted once", table.text)
        self.assertAlmostEqual(table.row("region work", 0).watts, 50 / 3, delta=2)

    def test_a_rank_that_ends_late(self) -> None:
        """The first rank, which has ended, reads the counters until all have."""
        with Machine() as machine:
            table, _ = self.table(machine, [PROGRAMS / "power", "late"], "-n", 2, "--power-idle", 0)
        computing = table.row("computing", 1)
        self.assertGreater(computing.seconds, 0.9)
        self.assertAlmostEqual(computing.watts, 25, delta=2)
        self.assertAlmostEqual(table.row("waiting in sms_shutdown", 0).watts, 25, delta=2)

    def test_tasks_by_name(self) -> None:
        with Machine() as machine:
            table, _ = self.table(machine, [PROGRAMS / "power_tasks", 0.15], "-n", 1, "--power-idle", 0)
        heavy, light = table.row("task heavy", 0), table.row("task light", 0)
        threads = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1))
        self.assertGreater(heavy.seconds * threads, 1.3)
        self.assertAlmostEqual(heavy.joules / light.joules, heavy.seconds / light.seconds, delta=0.5)
        self.assertEqual(table.row("region in light", 0).times, "3")

    def test_timeline(self) -> None:
        with Machine() as machine, tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "run.perfetto.json"
            self.table(machine, [PROGRAMS / "power_tasks", 0.15], "-n", 2, "--power-idle", 0, "--report", trace)
            events = json.loads(trace.read_text())["traceEvents"]
        watts = [event["args"]["watts"] for event in events if event["name"] == "watts"]
        steady = sorted(watts)[len(watts) // 2]  # the first and the last step are not all measured
        self.assertGreater(len(watts), 3)
        self.assertAlmostEqual(steady, 50, delta=5)

    def test_stats(self) -> None:
        with Machine() as machine:
            table, _ = self.table(machine, [PROGRAMS / "power", "regions", 0.3], "-n", 2, "--power-idle", 0, "--stats")
        self.assertRegex(table.text, r"rank 1: energy: .*waiting in sms_barrier [\d.]+ s [\d.]+ J")

    def test_counters_that_fail(self) -> None:
        with Machine() as machine:
            path = machine.root / "class" / "powercap" / "intel-rapl:0" / "energy_uj"
            machine.on = False
            machine.thread.join()
            path.unlink()
            path.mkdir()
            (machine.root / "class" / "powercap" / "intel-rapl:0:0" / "name").write_text("core\n")
            table, out = self.table(machine, [PROGRAMS / "power", "regions", 0.2], "-n", 2)
            self.assertIn("joules unknown: package-0: not readable", table.nodes[0])
            self.assertIn("not readable", out)
            self.assertFalse(any(row.known for row in table.rows))
            path.rmdir()
            count(path, 5_000_000)
            going_back = threading.Timer(1.5, count, (path, 4_000_000))
            going_back.start()
            table, out = self.table(machine, [PROGRAMS / "power", "regions", 1.5], "-n", 1, "--power-idle", 1)
            going_back.join()
            self.assertIn("counter went backwards", table.nodes[0] + out)

    def test_no_source(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            options = ["-n", 1, "--power", "--power-root", folder, "--power-nvml", "none"]
            status, _, error = run([PROGRAMS / "power", "regions", 0.2], options)
            self.assertEqual(status, 0)
            self.assertIn("joules unknown: powercap: not there", error)
            # NVIDIA's library is looked for, too, by all ranks.
            status, _, error = run([PROGRAMS / "power", "regions", 0.2], ["-n", 2, *options[2:-2]])
            self.assertEqual(status, 0, error)

    def test_gpus(self) -> None:
        library = BUILD / "tests" / "unit" / "libfake_nvml.so"
        options = ["-n", 1, "--power", "--power-root", "/", "--power-nvml", library, "--power-idle", 0]
        status, _, error = run([PROGRAMS / "power", "regions", 1], options, {"FAKE_NVML": "counts=250 tells=150"})
        self.assertEqual(status, 0, error)
        table = Table(error)
        self.assertIn("gpu-0 (Fake counts), gpu-1 (Fake tells)", table.nodes[0])
        self.assertAlmostEqual(table.row("region work", 0).watts, 400, delta=20)

    def sources(self, root: Path, nvml: Path | str = "none", **settings: str) -> str:
        """What `hiroba power` prints."""
        status, out, error = hiroba_power(root, HIROBA_POWER_NVML=str(nvml), **settings)
        self.assertEqual((status, error), (0, ""))
        return out

    def test_sources(self) -> None:
        """Each with its resolution and the time between updates, as measured, or as its documentation says."""
        library = BUILD / "tests" / "unit" / "libfake_nvml.so"
        with Machine() as machine:
            out = self.sources(machine.root, library, FAKE_NVML="counts=250 tells=150 denied lost")
        # The file changes every 2 ms, and by what the thread that writes it has slept longer.
        counts = r"\(counts 1 uJ, changes every ([\d.]+) ms, to be read every 131 s\)"
        period = re.search(rf"package-0 +powercap +package +[\d.]+ W {counts}", out)
        self.assertIsNotNone(period, out)
        self.assertGreaterEqual(float(period[1]), 2)  # type: ignore[index]
        self.assertRegex(out, rf"package-0/dram +powercap +memory +[\d.]+ W {counts}")
        self.assertRegex(out, r"gpu-0 \(Fake counts\) +NVML +device +[\d.]+ W \(counts 1 mJ, changes every [\d.]+ ms\)")
        self.assertRegex(out, r"gpu-1 \(Fake tells\) .* W \(integrated, tells 1 mW, updated every 100.0 ms\)")
        self.assertRegex(out, r"gpu-2 .* no permission: ")
        self.assertRegex(out, r"gpu-3 .* GPU is lost")
        self.assertRegex(out, r"perf: not there: there is no \S+/bus/event_source/devices/power: ")
        self.assertRegex(out, r"hwmon: not there: no \S+/class/hwmon/hwmon\* has ")
        self.assertRegex(out, r"this machine: [\d.]+ W \(package-0, package-0/dram, gpu-0 .*\); without gpu-2 ")

    def test_board_controller(self) -> None:
        """The watts of the whole machine, by the calls of the kernel's driver; and what can come instead."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "class" / "ipmi" / "ipmi77").mkdir(parents=True)

            def told(standin: str) -> str:
                library = BUILD / "tests" / "programs" / "ipmi_standin.so"
                order = "verify_asan_link_order=0"  # with sanitizers, their library need not come first
                return self.sources(Path(folder), LD_PRELOAD=str(library), IPMI_STANDIN=standin, ASAN_OPTIONS=order)

            out = told("412")
            self.assertRegex(out, r"ipmi77 +IPMI +machine +412.00 W \(integrated, tells 1 W, updated every 1000.0 ms\)")
            self.assertRegex(out, r"this machine: 412.00 W \(ipmi77\)")
            self.assertRegex(told("silent"), r"ipmi77 .* not readable: /dev/ipmi77: no answer for 1000 ms")
            self.assertRegex(told("denied"), r"ipmi77 .* no permission: /dev/ipmi77 is for root")

    def test_energy_of_devices(self) -> None:
        standin = str(BUILD / "tests" / "cuda_standin")
        settings = {"FAKE_NVML": "counts=250 tells=150", "CUDA_STANDIN_DEVICES": "3"}
        settings["LD_LIBRARY_PATH"] = ":".join([standin, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
        library = BUILD / "tests" / "unit" / "libfake_nvml.so"
        with Machine() as machine:
            options = ["-n", 1, "--power", "--power-root", machine.root, "--power-idle", 0]
            status, out, error = run(
                [PROGRAMS / "power", "devices"], [*options, "--power-nvml", library, "--devices", "cuda:3"], settings
            )
            self.assertEqual(status, 0, error)
            watts = [float(word) for word in re.findall(r"device \d: ([\d.]+) W, known, known", out)]
            self.assertAlmostEqual(watts[0], 250, delta=15)
            self.assertAlmostEqual(watts[1], 150, delta=10)
            self.assertRegex(out, r"device 2: -?nan W, not there: no source of energy for the device at PCI 0002:02:02")
            status, out, _ = run([PROGRAMS / "power", "devices"], [*options, "--devices", "host:1"])
            found = re.search(r"device 0: ([\d.]+) W", out)
            self.assertAlmostEqual(float(found[1]), 50, delta=5)  # type: ignore[index]

    def test_off(self) -> None:
        status, out, error = run([PROGRAMS / "power", "regions", 0.1], ["-n", 1])
        self.assertEqual((status, error), (0, ""))
        self.assertIn("option power is off", out)

    def test_options(self) -> None:
        for option, value, words in (
            ("--power-period", "0", r"option power-period: 0 is not from 1 to 1000 ms"),
            ("--power-period", "2000", r"option power-period: 2000 is not from 1 to 1000 ms"),
            ("--power-idle", "some", r"option power-idle: 'some' is neither a number of watts"),
            ("--power-idle", "-3", r"option power-idle: '-3' is neither"),
            ("--power-idle", "nan", r"option power-idle: 'nan' is neither"),
            ("--power-root", "nowhere", r"option power-root: there is no folder 'nowhere'"),
            ("--power-nvml", "nowhere/nvml.so", r"option power-nvml: 'nowhere/nvml.so' cannot be read"),
        ):
            status, _, error = run([PROGRAMS / "power", "regions"], ["-n", 2, "--power", option, value])
            self.assertNotEqual(status, 0)
            self.assertRegex(error, words)
            self.assertEqual(len(error.splitlines()), 1, error)

    def test_mistakes(self) -> None:
        place = r"hiroba: rank \d: \S*power\.c:\d+: hiroba_energy_"
        with Machine() as machine:
            for case, words in (
                ("twice", rf"{place}begin: region 'solve' is open already, since \S*power\.c:\d+: end it first"),
                ("not_open", rf"{place}end: no region 'solv' is open, but 'solve'; hiroba_energy_begin opens one"),
                ("left_open", r"region 'solve', begun at \S*power\.c:\d+, has not ended; call hiroba_energy_end"),
                ("no_name", rf"{place}begin: the name is empty"),
                ("null_name", rf"{place}begin: the name is NULL"),
                ("end_null", rf"{place}end: no region 'NULL' is open; hiroba_energy_begin opens one"),
                ("long_name", rf"{place}begin: the name 'x+\.\.\.' has 64 letters; at most 63"),
                ("too_many", rf"{place}begin: 1000 regions are open; at most 1000"),
                ("too_early", r"hiroba_energy_begin at \S*power\.c:\d+ before sms_startup"),
            ):
                options = ["-n", 2, "--power", "--power-root", machine.root, "--power-nvml", "none"]
                status, _, error = run([PROGRAMS / "power", case], [*options, "--power-idle", 0])
                self.assertNotEqual(status, 0, case)
                self.assertRegex(error, words)
                self.assertEqual(len(re.findall("^hiroba", error, re.MULTILINE)), 1, error)

    def spread(
        self, machine: Machine, *words: object, seconds: float = 0.05, settings: dict[str, str] | None = None
    ) -> tuple[int, str, str]:
        sizes = ["--repeat", 4, "--seconds", seconds, "--size", 48, "--mebibytes", 1]
        return hiroba_power(machine.root, "spread", *sizes, *words, **(settings or {}))

    def test_spread(self) -> None:
        """Every device of the machine, and ranks on it by the table."""
        with Machine() as machine, tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            files = ["--json", folder / "all.json", "--table", folder / "table.tsv"]
            for seconds in (0.05, 1):  # beside other work the counters, which a thread here writes, may stand still
                status, out, error = self.spread(machine, "--devices", "host:2", *files, seconds=seconds)
                self.assertEqual(status, 0, error)
                lines = json.loads((folder / "all.json").read_text())
                if all("unknown" not in line for line in lines):
                    break
            self.assertEqual([line["number"] for line in lines], [0, 0, 0, 1, 1, 1])
            for line in lines:
                if "not run" not in line:
                    self.assertEqual(len(line["seconds"]), 4)
                    watts = sum(line["joules"]) / sum(line["seconds"])
                    self.assertAlmostEqual(watts, 50, delta=8)
            self.assertRegex(out, r"product: watts from [\d.]+ to [\d.]+ W; medians of devices differ by")
            self.assertRegex(out, r"host 1 +[ |\[\]=#-]{50} [\d.]+ W")
            rows = [row.split("\t") for row in (folder / "table.tsv").read_text().splitlines()[1:]]
            self.assertEqual(
                [row[1:4] for row in rows], [["host", str(i), "threads of this processor"] for i in (0, 1)]
            )
            self.placements(folder, rows)
            self.assertEqual(self.spread(machine, "--from", folder / "all.json"), (0, out, ""))
            status, _, error = self.spread(machine, "--from", folder / "table.tsv")
            self.assertEqual((status, len(error.splitlines())), (1, 1), error)
            self.assertIn("has no figures", error)

    def placements(self, folder: Path, rows: list[list[str]]) -> None:
        rows[0][4:], rows[1][4:] = ["200", "0.1"], ["100", "0.2"]
        table = folder / "changed.tsv"
        table.write_text("".join("\t".join(row) + "\n" for row in rows))
        program = BUILD / "lib" / "hiroba" / "spread"

        def devices(*options: object) -> tuple[list[int], str]:
            words = [program, 1, 0.001, 8, 1]
            status, out, error = run(words, ["-n", 1, "--devices", "host:2", "--place-table", table, *options])
            self.assertEqual(status == 0, error == "", error)
            return [json.loads(line)["number"] for line in out.splitlines()][::3], error

        self.assertEqual(devices("--place-by", "power")[0], [1, 0])
        self.assertEqual(devices("--place-by", "speed")[0], [0, 1])
        self.assertEqual(devices()[0], [0, 1])
        for row in rows:
            row[0] = "elsewhere"
        table.write_text("".join("\t".join(row) + "\n" for row in rows))
        error = devices("--place-by", "speed")[1]
        self.assertRegex(error, r"of another machine: it has devices of 'elsewhere', and this is '")
        self.assertEqual(len(error.splitlines()), 1)
        status, _, error = run([program, 1, 0.001, 8, 1], ["-n", 1, "--devices", "host:2", "--place-by", "power"])
        self.assertNotEqual(status, 0)
        self.assertIn("needs option place-table", error)

    def test_places_by_other_launchers(self) -> None:
        """The table is a file and the options are variables, so an MPI that starts the ranks needs nothing else."""
        program = BUILD / "lib" / "hiroba" / "spread"
        for mpi, words in (("openmpi", ["--oversubscribe"]), ("mpich", [])):
            launcher = shutil.which(f"mpirun.{mpi}")
            if launcher is None or not (program.parent / f"wire-mpi-{mpi}.so").exists():
                continue
            with self.subTest(mpi), tempfile.TemporaryDirectory() as folder:
                table = Path(folder) / "table.tsv"
                kind = f"{os.uname().nodename}\thost"
                lines = ["0\tthreads of this processor\t200\t0.1", "1\tthreads of this processor\t100\t0.2"]
                table.write_text("".join(f"{kind}\t{line}\n" for line in lines))
                settings = {"HIROBA_DEVICES": "host:2", "HIROBA_PLACE_BY": "power", "HIROBA_PLACE_TABLE": str(table)}
                done = subprocess.run(
                    [launcher, *words, "-n", "2", str(program), "1", "0.001", "8", "1"],
                    capture_output=True,
                    text=True,
                    timeout=300,
                    check=False,
                    env=os.environ | settings | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
                )
                self.assertEqual(done.returncode, 0, done.stderr)
                numbers = [json.loads(line)["number"] for line in done.stdout.splitlines()]
                self.assertEqual(numbers, [1, 1, 1, 0, 0, 0])

    def test_spread_without_watts(self) -> None:
        with Machine() as machine, tempfile.TemporaryDirectory() as folder:
            settings = {"HIROBA_POWER_ROOT": folder}
            table = Path(folder) / "table.tsv"
            status, out, error = self.spread(machine, "--devices", "host:1", "--table", table, settings=settings)
            self.assertEqual(status, 0, error)
            self.assertIn("watts unknown: ", out)
            self.assertIn("\tunknown\t", table.read_text())
            for words, message in (
                (["--repeat", "0"], "--repeat 0 is not above 0"),
                (["--devices", "gpu"], "option devices=gpu"),
                (["--devices", "cuda:99"], "hiroba power spread: "),
                (["--from", "nowhere"], "nowhere"),
                (["--size", "99999"], "--size 99999 is not from 1 to 32768"),
            ):
                status, _, error = self.spread(machine, *words)
                self.assertNotEqual(status, 0)
                self.assertIn(message, error)

    def test_a_program_that_exits_early(self) -> None:
        with Machine() as machine:
            options = ["-n", 1, "--power", "--power-root", machine.root, "--power-idle", 0]
            status, _, error = run([PROGRAMS / "power", "exits"], options)
        self.assertEqual(status, 3)
        self.assertRegex(error, r"energy: .*region work [\d.]+ s [\d.]+ J")


if __name__ == "__main__":
    unittest.main()
