"""OpenMP programs of tests: compiled into a folder, and run. The words of the command: HIROBARUN HIROBACC FOLDER."""

import subprocess
import sys
import unittest
from pathlib import Path

HIROBARUN, HIROBACC = sys.argv[1:3]
FOLDER = Path(sys.argv[3])


class OpenMPTest(unittest.TestCase):
    def build(self, name: str, text: str, *flags: str, suffix: str = "c") -> str:
        FOLDER.mkdir(exist_ok=True, parents=True)
        source = FOLDER / f"{name}.{suffix}"
        source.write_text(text)
        words = [HIROBACC, "-O1", *flags, "-w", str(source), "-o", str(FOLDER / name)]
        subprocess.run(words, check=True, timeout=300)
        return str(FOLDER / name)

    def run_job(self, *words: str) -> tuple[int, str]:
        run = subprocess.run([HIROBARUN, *words], capture_output=True, text=True, timeout=300)
        return run.returncode, run.stdout + run.stderr
