"""What `hiroba` tells."""

import os
import pathlib
import re
import subprocess

from launching import HIROBA, LauncherTest, main


class Info(LauncherTest):
    def hiroba(self, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [HIROBA, *words], capture_output=True, text=True, timeout=60, env={**self.environment, **(env or {})}
        )

    def test_version(self) -> None:
        self.assertRegex(self.hiroba("--version").stdout, r"^hiroba \d+\.\d+\.\d+\n$")

    def test_help(self) -> None:
        self.assertIn("info", self.hiroba("--help").stdout)
        wrong = self.hiroba("inof")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("hiroba --help", wrong.stderr)

    def test_overlap_passes_all_words_on(self) -> None:
        told = self.hiroba("overlap", "--help")
        self.assertEqual((told.returncode, told.stderr), (0, ""))
        self.assertIn("--like", told.stdout)
        wrong = self.hiroba("overlap", "--collectives", "alltoal")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("alltoal is none of alltoall", wrong.stderr)

    def test_info(self) -> None:
        result = self.hiroba("info")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for part in (
            "Hiroba ",
            "cores",
            "NUMA nodes",
            "memory",
            "userfaultfd, asynchronous write tracking",
            "Transports",
            "shm",
            "HIROBA_CACHE",
        ):
            self.assertIn(part, result.stdout)
        tcp = pathlib.Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
        self.assertRegex(result.stdout, rf"\n  TCP congestion control {tcp}\b")
        self.assertEqual("tcp_congestion_control=cubic" in result.stdout, tcp.startswith("bbr"))

    def test_wires_that_are_not_installed(self) -> None:
        """Each transport that can be chosen is shown, and why it cannot be had: here none has a plug-in."""
        text = self.hiroba("info", env={"HIROBA_PLUGINS": "/nowhere"}).stdout
        shown = re.findall(r"^  (\w+) ", text.partition("\nTransports\n")[2].partition("\n\n")[0], re.MULTILINE)
        choices = re.search(r"^  --transport .* auto\|(\S+)$", text, re.MULTILINE)
        assert choices is not None
        self.assertEqual(shown, choices[1].split("|"))
        self.assertNotRegex(text, r"(plug-in|openmpi|mpich): yes")
        self.assertRegex(text, r"\n  ucx .*\n    plug-in: no: its library was not there when Hiroba was built\n")
        self.assertRegex(text, r"\n  mpi .*\n    openmpi: no: .*\n    mpich: no: ")

    def test_info_of_a_described_machine(self) -> None:
        text = self.hiroba("info", env={"HWLOC_SYNTHETIC": "numa:2 core:4 pu:2"}).stdout
        self.assertRegex(text, r"cores +8, with 16 hardware threads")
        self.assertRegex(text, r"NUMA nodes +2\n")

    def test_devices(self) -> None:
        """What the stand-in of NVIDIA's driver says: the first two devices have a link, the second reaches networks."""
        standin = pathlib.Path(HIROBA).parent.parent / "tests" / "cuda_standin"
        if not standin.exists():
            self.skipTest("cuda_standin was not built")
        text = self.hiroba("info", env={"LD_LIBRARY_PATH": str(standin), "CUDA_STANDIN_DEVICES": "3"}).stdout
        for number, direct in enumerate(("device 1", "networks, device 0", "none")):
            address = f"PCI {number:04x}:{number:02x}:{number:02x}.0"
            words = rf"Stand-in {number}, 1 GiB, NUMA domain {number}; {address}[^;]*; GPU Direct: {direct}\n"
            self.assertRegex(text, rf"\n  cuda {number} +{words}")
        self.assertRegex(text, r"\n  host:K +threads of this processor, ")

    def test_numa_domains(self) -> None:
        text = self.hiroba("info", "--memory").stdout
        online = pathlib.Path("/sys/devices/system/node/online").read_text().strip()
        self.assertEqual(online == "0", "This machine has one NUMA domain" in text, text)
        self.assertRegex(text, r"\n +0 +0.* 10")
        for wrong in ("0", "x", str(2**22 + 1)):
            refused = self.hiroba("info", "--memory", wrong)
            self.assertEqual((refused.returncode, refused.stdout), (1, ""))
            self.assertIn(f"there is no process {wrong} ", refused.stderr)
        refused = self.hiroba("info", "--memory", str(os.getpid()))
        self.assertIn("is it a rank of a job of Hiroba?", refused.stderr)

    def test_present_values(self) -> None:
        text = self.hiroba("info", env={"HIROBA_CACHE": "64M"}).stdout
        self.assertTrue(re.search(r"--cache +HIROBA_CACHE +64M \(default: 0\)", text), text)

    def test_a_bad_value_is_said(self) -> None:
        result = self.hiroba("info", env={"HIROBA_CACHE": "much"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("'much'", result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1)

    def test_markdown(self) -> None:
        text = self.hiroba("info", "--options-markdown").stdout
        self.assertTrue(text.startswith("# Options"))
        self.assertIn("| `--cache` | `HIROBA_CACHE` |", text)


if __name__ == "__main__":
    main()
