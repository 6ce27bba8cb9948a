"""The inner loop of a shared-out loop is the serial one: the same instructions in the same order, no call, no index
arithmetic added, vectorised alike."""

from __future__ import annotations

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from compiling import HIROBACC

KERNEL = """
#define N 1024
DIRECTIVE_SHARED
double a[N][N], b[N][N];
void by_name(void) {
DIRECTIVE_FOR
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++) a[i][j] = (b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1]) / 4;
}
void by_pointer(double (*restrict dst)[N], double (*restrict src)[N]) {
DIRECTIVE_FOR
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      dst[i][j] = (src[i - 1][j] + src[i + 1][j] + src[i][j - 1] + src[i][j + 1]) / 4;
}
"""


def inner_loop(assembly: str, function: str) -> list[str]:
    """The mnemonics of the shortest backward jump's body that adds vectors."""
    body = re.search(rf"<{function}>:\n(.*?)(?:\n\n|\Z)", assembly, re.DOTALL)
    if body is None:
        raise AssertionError(f"no function {function}")
    lines = [line.split("\t") for line in body[1].splitlines() if "\t" in line]
    code = [(int(line[0].strip(" :"), 16), line[-1].split(None, 1)) for line in lines]
    loops = []
    for end, (_, words) in enumerate(code):
        target = re.match(r"([0-9a-f]+) <", words[1]) if words and words[0].startswith("j") and len(words) > 1 else None
        if target is None:
            continue
        start = next((k for k, (at, _) in enumerate(code) if at == int(target[1], 16)), end)
        mnemonics = [w[0] for _, w in code[start : end + 1] if w]
        if start < end and any(m.startswith("vaddpd") for m in mnemonics):
            loops.append(mnemonics)
    return min(loops, key=len)


class Code(unittest.TestCase):
    def assembly(self, folder: Path, directives: bool) -> str:
        text = KERNEL.replace("DIRECTIVE_SHARED", "#pragma SMint shared ::[NPROCS][](0,NPROCS)" if directives else "")
        text = text.replace("DIRECTIVE_FOR", "#pragma SMint parallel for" if directives else "")
        source, out = folder / f"kernel{directives:d}.c", folder / f"kernel{directives:d}.o"
        source.write_text(("#include <smint.h>" if directives else "") + text)
        compiler = str(HIROBACC) if directives else "gcc"
        subprocess.run([compiler, "-O3", "-mavx2", "-c", str(source), "-o", str(out)], check=True, timeout=300)
        command = ["objdump", "-d", "--no-show-raw-insn", str(out)]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout

    def test_inner_loops_are_the_serial_ones(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            serial, shared = self.assembly(Path(folder), False), self.assembly(Path(folder), True)
        for function in ("by_name", "by_pointer"):
            with self.subTest(function=function):
                wanted = inner_loop(serial, function)
                self.assertNotIn("call", wanted)
                self.assertEqual(inner_loop(shared, function), wanted)


if __name__ == "__main__":
    unittest.main()
