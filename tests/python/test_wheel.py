"""What the wheel has, laid out as pip does it in a clean virtual environment that has NumPy besides: a job on two
nodes, and one without hirobarun, without any path of the build folder."""

from __future__ import annotations

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv

import numpy

PROGRAM = (
    "import hiroba; A = hiroba.ones(9); hiroba.barrier(); print(A.sum(), hiroba.allreduce(1), hiroba.library.path())"
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--package", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, symlinks=True, with_pip=False)
        site = pathlib.Path(sysconfig.get_path("purelib", vars={"base": folder}))
        package, python = site / "hiroba", f"{folder}/bin/python"
        of_numpy = pathlib.Path(numpy.__file__).parents[1]
        for name in of_numpy.glob("numpy*"):
            (site / name.name).symlink_to(name)
        shutil.copytree(arguments.package, package, ignore=shutil.ignore_patterns("__pycache__"))
        install = ["cmake", "--install", str(arguments.build), "--component", "python"]
        subprocess.run([*install, "--prefix", str(package / "native")], check=True, stdout=subprocess.DEVNULL)
        environment = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "PYTHONPATH")}
        if not (package / "py.typed").exists():
            sys.exit("no py.typed: programs that check types would not see those of the package")
        for command, ranks in (
            ([python, "-c", "import hiroba.commands as c; c.hirobarun()", "-n", "2", "--nodes", "2"], 2),
            ([], 1),
        ):
            job = [*command, python, "-B", "-c", PROGRAM]
            text = subprocess.run(job, env=environment, check=True, capture_output=True, text=True, timeout=60).stdout
            expected = f"9.0 {ranks} {package}/native/lib/libhiroba.so\n" * ranks
            if text != expected:
                sys.exit(f"{job} printed {text!r}, not {expected!r}")


main()
