"""Reports of runs: what a user finds if something goes wrong: a rank that is killed, a full disk, wrong names.

report_ends.py BUILD [TEST ...]
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import unittest

from report import AS_ROOT, CASES, HIROBA, HIROBARUN, Reports, run


class Ends(Reports):
    """The page of what is known, or one message."""

    def test_killed_rank(self) -> None:
        self.check_killed_rank()

    def test_killed_rank_of_mpirun(self) -> None:
        """The ranks have left files, of which hirobarun has made the report."""
        for mpi in ("mpich", "openmpi"):
            with self.subTest(mpi):
                self.require_wire(f"mpi-{mpi}")
                self.check_killed_rank("--transport=mpi", f"--mpi={mpi}")

    def test_killed_rank_of_mpirun_alone(self) -> None:
        """The ranks have left files, of which `hiroba report` makes the data and the page."""
        self.require_wire("mpi-openmpi")
        page, data = self.folder / "run.html", self.folder / "run.html.json"
        done = subprocess.run(
            ["mpirun.openmpi", "-n", "2", CASES, "killed"], capture_output=True, text=True, timeout=300, check=False,
            env={**os.environ, **AS_ROOT, "HIROBA_REPORT": str(page)},
        )  # fmt: skip
        self.assertNotEqual(done.returncode, 0)
        kept = {self.folder / f"{data.name}.rank-{rank}" for rank in (0, 1)}
        self.assertEqual(set(self.folder.iterdir()), kept, done.stderr)
        subprocess.run([HIROBA, "report", data, page], timeout=300, check=True)
        self.assertEqual(set(self.folder.iterdir()), {data, page})
        self.assertEqual(json.loads(data.read_text())["why_incomplete"], "the job has failed")

    def check_killed_rank(self, *options: str) -> None:
        file = self.folder / "run.json"
        done = run(file, "killed", *options)
        self.assertEqual(done.returncode, 128 + 9, done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [file])
        data = json.loads(file.read_text())
        self.assertIn("status 137: signal 9 (Killed)", data["why_incomplete"])
        self.assertEqual([rank["complete"] for rank in data["ranks"]], [False, False])
        barriers = [site for site in data["sites"] if site["kind"] == "barrier" and "killed" in site["place"]]
        self.assertEqual({site["rank"] for site in barriers}, {0, 1})
        # The other rank may be ended when it has left the last barrier, but has not counted it.
        self.assertGreaterEqual(min(site["count"] for site in barriers), 49)
        self.assertGreaterEqual(max(site["count"] for site in barriers), 50)

    def test_ends_before_its_start(self) -> None:
        done = run(self.folder / "run.json", program="/bin/true")
        self.assertIn("no rank has started Hiroba", done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def test_name_that_looks_like_an_option(self) -> None:
        words = [str(HIROBARUN), "-n", "2", "--report", "-x.html", str(CASES), "names"]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([each.name for each in self.folder.iterdir()], ["-x.html"])

    def test_bad_names(self) -> None:
        (self.folder / "folder.html").mkdir()
        for name, why in (
            ("run.txt", "neither .html"),
            ("run", "neither .html"),
            ("folder.html", "this is a folder"),
            ("no/folder/run.html", "cannot write in folder"),
        ):
            done = run(self.folder / name, "killed")
            self.assertEqual(done.returncode, 1)
            self.assertIn(why, done.stderr)

    def test_files_that_are_no_report(self) -> None:
        """Cut off, of another version, with less in it, of another program: one line that names the file."""
        good, bad = self.folder / "good.json", self.folder / "bad.json"
        self.assertEqual(run(good, "names").returncode, 0)
        text = good.read_text()
        data = json.loads(text)
        for changed, why in (
            (text[: len(text) // 2], "is no report: "),
            ("", "is no report: "),
            ("[1, 2]", "is no report of this version"),
            (json.dumps(data | {"hiroba_report": 2}), "is no report of this version"),
            ('{"hiroba_report": 1}', "is no whole report: it has no 'ranks'"),
            (json.dumps(data | {"ranks": []}), "is no whole report: it has no ranks"),
            (json.dumps(data | {"ranks": [{"rank": 0}]}), "is no whole report: it has no 'seconds'"),
            (json.dumps(data | {"sites": [{"rank": 0}]}), "is no whole report: it has no 'kind'"),
            (json.dumps(data | {"sites": 5}), "is no whole report: "),
        ):
            bad.write_text(changed)
            for words, status in ((("compare", good, bad), 2), (("report", bad, self.folder / "run.html"), 1)):
                with self.subTest(why=why, words=words[0]):
                    done = subprocess.run([HIROBA, *words], capture_output=True, text=True, timeout=300, check=False)
                    self.assertEqual(done.returncode, status, done.stderr)
                    self.assertRegex(done.stderr, rf"^hiroba: [^\n]*bad\.json[^\n]*{re.escape(why)}[^\n]*\n$")
                    self.assertEqual(done.stdout, "")
        done = subprocess.run(
            [HIROBA, "report", good, self.folder / "run.txt"], capture_output=True, text=True, timeout=300, check=False
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("neither .html", done.stderr)
        self.assertEqual(set(self.folder.iterdir()), {good, bad})

    def test_full_disk(self) -> None:
        """File systems of one page, and of less than the data, in a name space of their own. Nothing is left."""
        for size in ("4k", "64k"):
            command = (
                f"mount -t tmpfs -o size={size} none {self.folder} && {HIROBARUN} -n 4 --nodes 4 --report "
                f"{self.folder}/run.html {CASES} false_sharing part; status=$?; ls -A {self.folder}; exit $status"
            )
            done = subprocess.run(
                ["unshare", "-m", "bash", "-c", command], capture_output=True, text=True, timeout=300, check=False
            )
            if "unshare" in done.stderr or "mount" in done.stderr:
                self.skipTest(f"no file system can be mounted here: {done.stderr.strip()}")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("No space left on device", done.stderr)
            self.assertNotIn("run.html", done.stdout)

    def test_files_through_links(self) -> None:
        """A link with the name of the report is replaced, what it names is left alone, and the report is this user's
        alone, as long as an older one was not for others, too."""
        file, victim = self.folder / "run.json", self.folder / "victim"
        victim.write_text("precious")
        file.symlink_to(victim)
        self.assertEqual(run(file, "names").returncode, 0)
        self.assertFalse(file.is_symlink())
        self.assertEqual((victim.read_text(), file.stat().st_mode & 0o777), ("precious", 0o600))
        file.chmod(0o644)
        self.assertEqual(run(file, "names").returncode, 0)
        self.assertEqual(file.stat().st_mode & 0o777, 0o644)
        self.assertEqual(set(self.folder.iterdir()), {file, victim})

    def test_two_jobs_with_one_file(self) -> None:
        file = self.folder / "run.html"
        words = [str(HIROBARUN), "-n", "2", "--report", str(file), str(CASES), "false_sharing"]
        jobs = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(2)]
        for job in jobs:
            _, said = job.communicate(timeout=300)
            self.assertEqual((job.returncode, said), (0, b""))
        self.assertEqual(list(self.folder.iterdir()), [file])
        self.assertIn("</html>", file.read_text())


if __name__ == "__main__":
    unittest.main()
