"""`pip install .` as a user does it: pip makes a wheel of this tree by scikit-build-core, and installs it in a clean
virtual environment that has NumPy besides; there run a job of two nodes by the `hirobarun` of the environment, one
without `hirobarun`, and a report, without any path of the build folder. Then pip uninstalls it.

What is compiled comes from the build folder of this tree, because to compile takes ten minutes (wheel/CMakeLists.txt).
With --compile pip compiles all, as the user's does, with what it fetches from PyPI; `ctest -C long` does that. If this
Python has no scikit-build-core, pip fetches it; exits with 77 if it cannot, or if there is no pip."""

from __future__ import annotations

import argparse
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import venv

import numpy

PROGRAM = """
import hiroba
A = hiroba.ones(9)
hiroba.barrier()
print(A.sum(), hiroba.allreduce(1), hiroba.library.path())
hiroba.solve(hiroba.matrix([[2, 0], [0, 2]]), [1, 1])  # by libhiroba_sparse
"""
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
LEFT_OUT = (".*", "build", "out", "__pycache__")  # of a tree: what git does not have


def output(*command: object, environment: dict[str, str] | None = None, seconds: int = 300) -> str:
    words = [str(each) for each in command]
    job = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=seconds, check=False)
    if job.returncode != 0:
        sys.exit(f"{words}: status {job.returncode}\n{job.stdout[-4000:]}\n{job.stderr}")
    return job.stdout


def can_make_wheels(source: pathlib.Path, folder: pathlib.Path) -> bool:
    """Fetches into a folder what pyproject.toml requires for that, unless this Python has it."""
    if importlib.util.find_spec("pip") is None:
        return False
    if importlib.util.find_spec("scikit_build_core") is not None:
        return True
    requires = tomllib.loads((source / "pyproject.toml").read_text())["build-system"]["requires"]
    command = [*PIP, "install", "--retries", "0", "--timeout", "10", "--target", str(folder / "fetched"), *requires]
    return subprocess.run(command, capture_output=True, timeout=300, check=False).returncode == 0


def wheel_of(source: pathlib.Path, built: pathlib.Path | None, folder: pathlib.Path) -> pathlib.Path:
    """Makes the wheel; compiles it in a copy of the tree if there is no build folder to take it from."""
    command: list[object] = [*PIP, "wheel", "--no-deps", "--wheel-dir", folder / "wheels"]
    if built is None:
        tree = folder / "tree"
        shutil.copytree(source, tree, ignore=shutil.ignore_patterns(*LEFT_OUT))
        output(*command, tree, seconds=3000)
    else:
        settings = [f"--config-settings=cmake.define.HIROBA_BUILT={built}"]
        settings += ["--config-settings=cmake.source-dir=tests/python/wheel"]
        environment = os.environ | {"PYTHONPATH": str(folder / "fetched")}  # empty if this Python has all that it takes
        output(*command, "--no-build-isolation", *settings, source, environment=environment)
    (wheel,) = (folder / "wheels").iterdir()
    version = re.search(r"project\(Hiroba VERSION ([0-9.]+)", (source / "CMakeLists.txt").read_text())
    if version is None or not re.fullmatch(rf"hiroba-{re.escape(version[1])}-py3-none-linux_\w+\.whl", wheel.name):
        sys.exit(f"{wheel.name} is not named after the version of the library, any Python 3, and this processor")
    return wheel


def installed(wheel: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Makes a virtual environment with the wheel, and NumPy, which is not fetched again; returns its packages."""
    venv.create(folder, symlinks=True, with_pip=False)
    site = pathlib.Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    for name in pathlib.Path(numpy.__file__).parents[1].glob("numpy*"):
        (site / name.name).symlink_to(name)
    output(*PIP, "--python", folder / "bin" / "python", "install", "--no-index", wheel)  # not without what it requires
    return site


def check_jobs(environment_folder: pathlib.Path, package: pathlib.Path) -> None:
    commands = environment_folder / "bin"
    environment = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "PYTHONPATH")}
    environment["PATH"] = f"{commands}:{environment['PATH']}"
    report = environment_folder / "report.html"
    for launcher, ranks in (
        (["hirobarun", "-n", "2", "--nodes", "2", "--report", str(report)], 2),
        ([], 1),
    ):
        text = output(*launcher, "python", "-c", PROGRAM, environment=environment)
        expected = f"9.0 {ranks} {package}/native/lib/libhiroba.so\n" * ranks
        if text != expected:
            sys.exit(f"{ranks} ranks printed {text!r}, not {expected!r}")
    if "<html" not in report.read_text():
        sys.exit("the report is no page")
    version = output("hiroba", "--version", environment=environment)
    if not re.search(r"\d+\.\d+\.\d+", version):
        sys.exit(f"hiroba --version printed {version!r}")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--compile", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        if not can_make_wheels(arguments.source, folder):
            print("no pip, or no scikit-build-core, which it cannot fetch")
            return 77
        wheel = wheel_of(arguments.source, None if arguments.compile else arguments.build, folder)
        site = installed(wheel, folder / "venv")
        if not (site / "hiroba" / "py.typed").exists():
            sys.exit("no py.typed: programs that check types would not see those of the package")
        check_jobs(folder / "venv", site / "hiroba")
        output(*PIP, "--python", folder / "venv" / "bin" / "python", "uninstall", "--yes", "hiroba")
        left = [each for each in site.rglob("*") if "hiroba" in each.name]
        if left:
            sys.exit(f"pip uninstall leaves {left}")
    return 0


sys.exit(main())
