"""Runs each example of a page, a block of ```python, as it stands, with several ranks on two nodes, and alone."""

from __future__ import annotations

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--page", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    examples = re.findall(r"```python\n(.*?)```", arguments.page.read_text(), re.DOTALL)
    if not examples:
        sys.exit(f"no examples in {arguments.page}")
    for program in (arguments.page.parents[1] / "examples").glob("*.py"):
        if program.read_text() not in examples:
            sys.exit(f"{arguments.page} has another text than {program}")
    for ranks, nodes in ((3, 2), (1, 1)):
        for example in examples:
            with tempfile.TemporaryDirectory() as folder:
                program = pathlib.Path(folder) / "example.py"
                program.write_text(example)
                command = [str(arguments.bin / "hirobarun"), "-n", str(ranks), "--nodes", str(nodes)]
                job = subprocess.run(
                    [*command, sys.executable, "-B", str(program)],
                    cwd=folder,
                    capture_output=True,
                    text=True,
                    timeout=300,
                    check=False,
                )
            if job.returncode != 0 or "Warning" in job.stderr:
                sys.exit(f"{ranks} ranks: status {job.returncode} of\n{example}\n{job.stderr}")
    print(f"{len(examples)} examples")


main()
