#!/usr/bin/env python3
"""Runs Netlib's tests of BLAS 1 and 2, as Debian compiles them (libblas-test), with libhiroba_blas before the BLAS of
this machine: the routines that libhiroba_blas has are its own, the others that BLAS's.

netlib.py LIBRARY FOLDER_OF_THE_TESTS
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
OURS = {
    "s": "saxpy_ sdot_ snrm2_ sgemv_ sger_",
    "d": "daxpy_ ddot_ dnrm2_ dgemv_ dger_",
    "c": "caxpy_ cdotc_ scnrm2_ cgemv_ cgerc_",
    "z": "zaxpy_ zdotc_ dznrm2_ zgemv_ zgerc_",
}


def run(program: Path, text: str, library: str, threads: int, folder: str) -> tuple[str, str]:
    """What it says, and which functions it got from the library."""
    environment = os.environ | {"LD_PRELOAD": library, "LD_DEBUG": "bindings", "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [program], input=text, env=environment, cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    said = done.stdout + "".join(file.read_text() for file in Path(folder).glob("*.out"))
    bound = [line for line in done.stderr.splitlines() if f"{program} [0] to {library}" in line]
    if done.returncode != 0 or "FAIL" in said or "ERROR" in said.replace("ERROR-EXITS", "") or "PASS" not in said:
        sys.exit(f"{program.name}: exit status {done.returncode}\n{said}")
    return said, "\n".join(bound)


def main() -> int:
    library, tests = sys.argv[1], Path(sys.argv[2])
    for letter, names in OURS.items():
        for threads in (1, 2):
            bound = ""
            for level, text in (("1", ""), ("2", (tests / f"{letter}blat2.in").read_text())):
                with tempfile.TemporaryDirectory() as folder:
                    bound += run(tests / f"xblat{level}{letter}", text, library, threads, folder)[1]
            missing = [name for name in names.split() if f"`{name}'" not in bound]
            if missing:
                sys.exit(f"{', '.join(missing)} did not come from {library}, so nothing of it was tested")
        print(f"{letter}: passed")
    return 0


if __name__ == "__main__":
    if not (Path(sys.argv[2]) / "xblat1z").exists():
        print(f"no Netlib tests in {sys.argv[2]}: install libblas-test")
        sys.exit(SKIPPED)
    sys.exit(main())
