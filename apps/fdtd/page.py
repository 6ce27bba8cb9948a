"""For ctest: types what docs/fdtd.md says, in a folder of its own, and looks at what comes out.

page.py BIN PAGE
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = ["bottle.py", "spectrum.py"]  # under which names the page saves its programs, in their order


def commands(block: str, programs: Path) -> str:
    """Without those that build, which a test must not; and with this Python."""
    lines = [line for line in block.splitlines() if not line.startswith(("./dev", 'eval "$(./dev env)"'))]
    text = "\n".join(lines).replace(".venv/bin/python", sys.executable)
    return text if (programs / "fdtd_smint").exists() else text.replace("fdtd_smint", "fdtd_sms")


def main() -> None:
    programs, page = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    names = iter(PROGRAMS)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
    output = ""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for language, block in re.findall(r"```(sh|python)\n(.*?)```", page.read_text(), re.DOTALL):
            if language == "python":
                (folder / next(names)).write_text(block)
                continue
            command = ["bash", "-euo", "pipefail", "-c", commands(block, programs)]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            print(done.stdout, done.stderr, sep="", end="", flush=True)
            if done.returncode != 0:
                sys.exit(f"page.py: exit status {done.returncode} of:\n{block}")
            output += done.stdout
        for result in ("bottle/volume.xmf", "bottle/pressure.npy", "bottle/probe-1.wav", "spectrum.png"):
            if not (folder / result).exists():
                sys.exit(f"page.py: no {result}")
    ratio = re.search(r"ratio ([0-9.]+)", output)
    if ratio is None or not 0.9 < float(ratio[1]) < 1.05:
        sys.exit("page.py: the peak is not where the page predicts it")


if __name__ == "__main__":
    main()
