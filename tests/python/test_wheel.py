"""What the wheel has, laid out in a folder as pip does it: a job on two nodes, and one without hirobarun, without any
path of the build folder."""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM = (
    "import hiroba; A = hiroba.ones(9); hiroba.barrier(); print(A.sum(), hiroba.allreduce(1), hiroba.library.path())"
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--package", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder)
        package = site / "hiroba"
        shutil.copytree(arguments.package, package, ignore=shutil.ignore_patterns("__pycache__"))
        install = ["cmake", "--install", str(arguments.build), "--component", "python"]
        subprocess.run([*install, "--prefix", str(package / "native")], check=True, stdout=subprocess.DEVNULL)
        environment = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "PYTHONPATH")}
        environment["PYTHONPATH"] = str(site)
        for command, ranks in (
            ([sys.executable, "-c", "import hiroba.commands as c; c.hirobarun()", "-n", "2", "--nodes", "2"], 2),
            ([], 1),
        ):
            job = [*command, sys.executable, "-B", "-c", PROGRAM]
            text = subprocess.run(job, env=environment, check=True, capture_output=True, text=True, timeout=60).stdout
            expected = f"9.0 {ranks} {package}/native/lib/libhiroba.so\n" * ranks
            if text != expected:
                sys.exit(f"{job} printed {text!r}, not {expected!r}")


main()
