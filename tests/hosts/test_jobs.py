"""Jobs of Hiroba over several hosts give the results that they give on one: over Open MPI, MPICH or UCX, on a good
network and on one that is slow and loses packets.

    test_jobs.py WIRE --build BUILD [--long] [TEST ...]
"""

import functools
import itertools
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

from hosts import Hosts
from namespaces import command_line
from over_hosts import Command, Job, JobsTest, environment, main

TWO, UNEVEN, THREE, FOUR = "h1,h2", "h1:2,h2:1", "h1,h2,h3", "h1:2,h2,h3"
ALL = [TWO, UNEVEN, THREE, FOUR, "h1:2,h2:2,h3:2"]  # what --long runs everywhere
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PATIENCE = {"HIROBA_TIMEOUT": "40"}  # so that what waits for ever ends with a message that says where


class Jobs(JobsTest):
    hosts: Hosts

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.hosts = cls.enterClassContext(Hosts(3))

    def places(self, *usual: str) -> list[str]:
        return ALL if self.long else list(usual)

    # ---- nodes are hosts ----

    def test_ranks_are_numbered_by_host(self) -> None:
        for where, nodes in ((TWO, [0, 1]), ("h1,h2:2", [0, 1, 1]), ("h3:2,h1", [0, 0, 1]), (THREE, [0, 1, 2])):
            text = self.run_job(self.hosts, where, [self.example("hello")]).text
            expected = [f"{r} of {len(nodes)}, on node {n} of {max(nodes) + 1}" for r, n in enumerate(nodes)]
            self.assertEqual(sorted(re.findall(r"Hello from rank (.*)", text)), expected)

    def test_ranks_share_memory_on_a_host_and_only_there(self) -> None:
        with tempfile.TemporaryDirectory(prefix="hosts-test-") as folder:
            stop = pathlib.Path(folder) / "stop"
            job = self.start(self.hosts, "h1:2,h2:2", [self.patient(), stop])
            job.wait_until_said("running")
            files = {name: [node_files(pid) for pid in self.ranks(name)] for name in ("h1", "h2")}
            stop.touch()
            ended = job.finish(60)
        self.assertEqual(ended.status, 0, ended)
        self.assertIn("4 ranks on 2 nodes", ended.text)
        for name in ("h1", "h2"):
            self.assertEqual(len(files[name]), 2)
            self.assertEqual(files[name][0], files[name][1], f"the ranks on {name} share no memory")
            self.assertTrue(files[name][0])
        self.assertFalse(files["h1"][0] & files["h2"][0], "ranks on different hosts share memory")

    def ranks(self, host: str) -> list[int]:
        return [pid for pid in self.hosts.processes(host) if command_line(pid)[0] == str(self.patient())]

    # ---- ways to start ----

    def test_mpirun_starts_programs_and_hirobarun(self) -> None:
        hirobarun = [os.fspath(self.example("hirobarun")), "--cache", "64M"]
        for before in ([], hirobarun):
            option = {"HIROBA_TRANSPORT": self.transport}
            command, settings = self.hosts.mpirun(self.kind, [2, 1], [*before, self.example("hello")], option)
            done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.count("of 3, on node 0 of 2"), 2, done.stdout)
            self.assertEqual(done.stdout.count("of 3, on node 1 of 2"), 1, done.stdout)

    def test_a_program_with_mpi_of_its_own(self) -> None:
        if self.transport != "mpi":
            self.skipTest("there is a communicator with transport mpi only")
        # Who initialises MPI. Where the program does and so ends it, MPICH 4.0 may hang in MPI_Finalize.
        for who in ["hiroba"] if self.kind == "mpich" else ["program", "hiroba"]:
            self.run_job(self.hosts, UNEVEN, [self.program(f"beside_{self.kind}"), who])

    def test_options_reach_all_hosts(self) -> None:
        seen = 'test "$HIROBA_CACHE" = 77M && exec "$0"'
        job = self.start(self.hosts, TWO, ["sh", "-c", seen, self.example("hello")], {}, ["--cache", "77M"])
        self.assertEqual(job.finish(30).status, 0)

    def test_report_without_a_common_file_system(self) -> None:
        """Each host has a /dev/shm of its own. Rank 0 writes the data there; who has it makes the page."""
        page = "/dev/shm/run.html"
        job = self.start(self.hosts, TWO, [self.program("report_cases"), "load_imbalance"], {}, ["--report", page])
        ended = job.finish(60)
        self.assertEqual(ended.status, 1, ended)
        told = re.search(
            rf"there is no ({page}\.[0-9]+\.json): .* `hiroba report \1 {page}` makes the page there", ended.text
        )
        assert told is not None, ended
        words = [self.example("hiroba"), "report", told[1], page]
        self.assertEqual(self.hosts.run("h1", words, timeout=30).returncode, 0)
        read = self.hosts.run("h1", ["cat", page], capture_output=True, text=True, timeout=30)
        self.assertTrue('"rule":"load imbalance"' in read.stdout and "</html>" in read.stdout)
        self.assertNotEqual(self.hosts.run("h2", ["test", "-e", page], timeout=30).returncode, 0)

    def test_report_of_a_killed_rank(self) -> None:
        """What is known of all ranks; without a common file system, of those of one host."""
        program: Command = [self.program("report_cases"), "killed"]
        with tempfile.TemporaryDirectory(prefix="hosts-test-") as folder:
            file = pathlib.Path(folder) / "run.json"
            ended = self.start(self.hosts, TWO, program, {}, ["--report", os.fspath(file)]).finish(60)
            self.assertNotEqual(ended.status, 0, ended)
            data = json.loads(file.read_text())
            self.assertEqual(list(file.parent.iterdir()), [file])
        self.assertIn("the job has failed", data["why_incomplete"])
        self.assertEqual([rank["complete"] for rank in data["ranks"]], [False, False])
        barriers = [site for site in data["sites"] if site["kind"] == "barrier" and "killed" in site["place"]]
        self.assertEqual([site["rank"] for site in barriers], [0, 1])
        page = "/dev/shm/killed.html"
        ended = self.start(self.hosts, TWO, program, {}, ["--report", page]).finish(60)
        self.assertNotEqual(ended.status, 0, ended)
        told = re.search(rf"there is no ({page}\.[0-9]+\.json)", ended.text)
        assert told is not None, ended
        words = [self.example("hiroba"), "report", told[1], page]
        self.assertEqual(self.hosts.run("h2", words, timeout=30).returncode, 0)
        read = self.hosts.run("h2", ["cat", page], capture_output=True, text=True, timeout=30)
        self.assertIn("nothing is known here of ranks 0: on their hosts", read.stdout)

    def test_top(self) -> None:
        """It shows the ranks of its host, with faults and bytes of their records."""
        with tempfile.TemporaryDirectory(prefix="hosts-test-") as folder:
            options = ["--report", f"{folder}/run.json"]
            job = self.start(self.hosts, "h1:2,h2", [self.program("report_cases"), "endless"], {}, options)
            name = os.fspath(self.program("report_cases"))
            deadline = time.monotonic() + 30
            while len(list(pathlib.Path(folder).iterdir())) < 3 and time.monotonic() < deadline:
                time.sleep(0.05)
            for host, here in (("h1", [0, 1]), ("h2", [2])):
                ranks = [pid for pid in self.hosts.processes(host) if command_line(pid)[0] == name]
                words: Command = [self.example("hiroba"), "top", str(ranks[0]), "--every", "1", "--pictures", "1"]
                seen = self.hosts.run(host, words, capture_output=True, text=True, timeout=30)
                self.assertEqual((seen.returncode, seen.stderr), (0, ""))
                self.assertIn("report_cases: 3 ranks on 2 nodes", seen.stdout)
                lines = [line.split() for line in seen.stdout.splitlines() if re.match(r" +[0-9]", line)]
                self.assertEqual([int(words[0]) for words in lines], [0, 1, 2], seen.stdout)
                for rank, line in enumerate(lines):
                    self.assertEqual("another host" in " ".join(line), rank not in here, seen.stdout)
                self.assertGreater(sum(float(lines[rank][5]) for rank in here), 1, seen.stdout)  # faults in a second
            job.process.terminate()
            job.finish(60)

    def test_power_spread(self) -> None:
        """The devices of all hosts in one picture and one table, by which ranks are placed on each of them."""
        with tempfile.TemporaryDirectory(prefix="hosts-test-") as name:
            folder = pathlib.Path(name)
            (folder / "class").mkdir()
            sizes = ["--devices", "host:2", "--repeat", "3", "--seconds", "0.02", "--size", "32", "--mebibytes", "1"]
            files: Command = ["--table", folder / "table.tsv", "--plot", folder / "spread.png"]
            words = [self.example("hiroba"), "power", "spread", "--hosts", TWO, *sizes, *files]
            settings = {**PATIENCE, "HIROBA_TRANSPORT": self.transport, "HIROBA_POWER_ROOT": name}
            variables = environment(self.folder_of_ssh, settings)
            variables["PATH"] = f"{ROOT}/.venv/bin:{variables['PATH']}"  # whose Python has matplotlib
            ended = Job(self.hosts, words, variables).finish(60)
            self.assertEqual(ended.status, 0, ended)
            for host, device in itertools.product(("h1", "h2"), (0, 1)):
                self.assertEqual(len(re.findall(rf"^ +{host} host {device} ", ended.text, re.MULTILINE)), 3, ended)
            self.assertEqual((folder / "spread.png").read_bytes()[:4], b"\x89PNG")
            program: Command = [self.build / "lib/hiroba/spread", "1", "0.001", "8", "1"]
            placed = ["--devices", "host:2", "--place-by", "speed", "--place-table", str(folder / "table.tsv")]
            rows = [row.split("\t") for row in (folder / "table.tsv").read_text().splitlines(keepends=True)]
            for row in rows[1:]:  # the second device is the faster one of h1, the first one of h2
                row[5] = "0.1\n" if (row[0], row[2]) in (("h1", "1"), ("h2", "0")) else "0.2\n"
            (folder / "table.tsv").write_text("".join("\t".join(row) for row in rows))
            ended = self.start(self.hosts, TWO, program, settings, placed).finish(30)
            self.assertEqual(ended.status, 0, ended)
            lines = [json.loads(line) for line in ended.text.splitlines() if line.startswith("{")]
            order = {host: [line["number"] for line in lines if line["host"] == host] for host in ("h1", "h2")}
            self.assertEqual(order, {"h1": [1, 1, 1, 0, 0, 0], "h2": [0, 0, 0, 1, 1, 1]})
            (folder / "table.tsv").write_text("".join("\t".join(row) for row in rows).replace("h2\t", "h4\t"))
            ended = self.start(self.hosts, TWO, program, settings, placed).finish(30)
            self.assertNotEqual(ended.status, 0, ended)
            self.assertRegex(ended.text, "it has devices of .*h4.*, and this is 'h2'")

    def test_a_program_named_as_the_shell_allows(self) -> None:
        folder = self.example("hello").parent
        for place, path, name in ((folder, "", "./hello"), (folder.parent, "", "bin/hello"), ("/", folder, "hello")):
            paths = f"PATH={path}:{self.folder_of_ssh}:{os.environ['PATH']}"
            started = ["env", f"--chdir={place}", *([paths] if path else [])]
            job = Job(self.hosts, [*started, *self.hirobarun(TWO), name], environment(self.folder_of_ssh, {}))
            ended = job.finish(30)
            self.assertEqual((ended.status, ended.text.count("Hello")), (0, 2), f"{name} in {place}: {ended}")

    # ---- right results ----

    def test_conformance(self) -> None:
        settings = ["CONFORMANCE_TRANSPORT=options", f"HIROBA_PLUGINS={self.build / 'lib/hiroba'}"]
        program: Command = ["env", *settings, self.build / "tests/conformance/conformance"]
        # What takes longest and does not depend on the number of hosts is left out where three ranks share two cores.
        some = ["--gtest_filter=-*EverySize*:*StridedBoxes*"]
        for where in self.places(TWO, THREE):
            ended = self.run_job(self.hosts, where, program if self.long or where == TWO else [*program, *some])
            self.assertIn("PASSED", ended.text)
            self.assertNotIn("FAILED", ended.text)

    def test_litmus(self) -> None:
        rounds = "300" if self.long else "4"
        for where in self.places(TWO, FOUR):
            self.run_job(self.hosts, where, [self.program("litmus"), "--rounds", rounds], PATIENCE, limit=120)

    def test_random_programs(self) -> None:
        seeds = "200" if self.long else "5"
        program: Command = [self.program("random"), "--threads", "2", "--seeds", seeds]
        for settings in ({}, {"HIROBA_CHAOS": "9", "HIROBA_CACHE": "256K"}):
            for where in self.places(TWO, FOUR):
                ended = self.run_job(self.hosts, where, program, {**PATIENCE, **settings}, limit=120)
                self.assertIn("right", ended.text)

    def test_tasks(self) -> None:
        seeds = "100" if self.long else "4"
        for where in self.places(UNEVEN, THREE):
            self.run_job(self.hosts, where, [self.program("random_tasks"), "--seeds", seeds], PATIENCE, limit=120)
            ended = self.run_job(self.hosts, where, [self.program("tasks_features")], PATIENCE, limit=60)
            self.assertIn("ok", ended.text)

    def test_coarrays(self) -> None:
        images: Command = [self.program("xmp_images")]
        if not self.long:  # without those that send thousands of small messages
            images += ["elements", "put_after_put", "threads", "accumulates", "large_accumulates", "tasks"]
            images += ["reductions", "broadcasts", "gmoves", "declared"]
        steps = "300" if self.long else "40"
        for where in self.places(UNEVEN):
            self.run_job(self.hosts, where, images, PATIENCE, limit=120)
            ended = self.run_job(self.hosts, where, [self.program("xmp_random"), "--steps", steps], PATIENCE, limit=120)
            self.assertIn("right", ended.text)

    def test_stencil(self) -> None:
        program: Command = [self.example("stencil_sms"), "--size", "40,30,50", "--steps", "30", "--verify"]
        for where in self.places(UNEVEN, THREE):
            for way in ([], ["--no-preload"]):
                self.run_job(self.hosts, where, [*program, *way], PATIENCE)

    def test_applications(self) -> None:
        """Each verifies its answer."""
        programs: list[Command] = [
            [self.example("stencil27_sms"), "--size", "40,30,50", "--steps", "30", "--verify"],
            [self.example("barnes_hut_sms"), "--size", "3000", "--steps", "3", "--verify"],
            [self.example("fdtd_sms"), "--size", "24", "--steps", "40", "--start", "noise", "--verify"],
        ]
        if self.example("fdtd_smint").exists():
            programs.append([self.example("stencil27_smint"), "--size", "20", "--steps", "12", "--verify"])
            programs.append([self.example("fdtd_smint"), "--size", "16", "--steps", "20", "--verify"])
        for program, where in itertools.product(programs, self.places(UNEVEN, THREE)):
            self.run_job(self.hosts, where, program, PATIENCE)

    # ---- a slow network that loses packets ----

    def test_on_a_bad_network(self) -> None:
        small: list[Command] = [
            [self.example("hello")],
            [self.example("stencil_sms"), "--size", "12", "--steps", "10", "--verify"],
            [self.program("random"), "--seeds", "2" if self.long else "1", "--seed", "3"],
        ]
        if self.long:
            small.append([self.program("litmus"), "--rounds", "2"])
        with Hosts(3 if self.long else 2, delay_ms=20, loss_percent=1) as bad:
            for program, where in itertools.product(small, [UNEVEN, THREE] if self.long else [UNEVEN]):
                run = functools.partial(self.run_job, where=where, program=program, limit=90)
                quick, slow = run(self.hosts), run(bad)
                self.assertGreater(slow.seconds, quick.seconds, program)


def node_files(pid: int) -> set[str]:
    """What identifies the files of node memory that a process has mapped."""
    lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {" ".join(line.split()[3:5]) for line in lines if "hiroba-node" in line}


if __name__ == "__main__":
    main(Jobs, __doc__.splitlines()[0])
