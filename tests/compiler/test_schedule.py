"""schedule(dynamic) and schedule(guided) of loops that ranks share: each iteration is done once, a rank does not keep
iterations that others are free to do, and a chunk belongs to a message of many between nodes."""

import pathlib
import re
import unittest

from compiling import HIROBARUN, CompilerTest, execute, shapes

PLUGINS = pathlib.Path(HIROBARUN).parents[1] / "lib/hiroba"
SHAPES = ((2, 1), (3, 1), (4, 1), (2, 2), (3, 2), (4, 2), (4, 4))
WIRES = (("mpi", "mpi-openmpi"), ("ucx", "ucx"), ("gasnet", "gasnet-openmpi"), ("armci", "armci-openmpi"))

# An iteration of the first rank ends when others have done more than their own: that rank would wait forever if the
# iterations behind it stayed its own. At most half of a rank's iterations go to another node at once. `done` counts the
# executions of each iteration.
WAITS = """#include <smint.h>
#include <stdio.h>
#include <unistd.h>
enum { N = 240 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
int done[N];
#pragma SMint shared ::[](0, 1)
int32_t finished;
int main(void) {
  int wrong = 0;
#pragma SMint parallel for schedule(SCHEDULE)
  for (int i = 0; i < N; i++) {
    if (i == 0)
      while (sms_fetch_add32(&finished, 0) < N - N / (2 * sms_nprocs)) usleep(100);
    done[i]++;
    sms_fetch_add32(&finished, 1);
  }
  for (int i = 0; i < N; i++) wrong += done[i] != 1;
  if (wrong > 0) printf("%d wrong on rank %d\\n", wrong, sms_rank);
  return wrong > 0;
}
"""

BAD_CHUNK = """#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[99];
int main(int argc, char** argv) {
  (void)argv;
#pragma SMint parallel for schedule(dynamic, argc - 1)
  for (int i = 0; i < 99; i++) a[i] = i;
}
"""

# Iterations that take no time, in many loops: what ranks ask each other when nothing is left.
EMPTY = """#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
int a[4096];
int main(void) {
  for (int t = 0; t < 100; t++) {
#pragma SMint parallel for schedule(dynamic, 64)
    for (int i = 0; i < 4096; i++) a[i] = t;
  }
}
"""


class ScheduleTest(CompilerTest):
    def program(self, name: str, text: str) -> pathlib.Path:
        (self.folder / f"{name}.c").write_text(text)
        self.compiled("-O1", "-Wall", "-Wextra", "-Werror", f"{name}.c", "-o", name)
        return self.folder / name

    def run_over(self, wire: str, ranks: int, nodes: int, program: pathlib.Path) -> None:
        words = [HIROBARUN, "-n", str(ranks), "--nodes", str(nodes), *(("--transport", wire) if wire else ())]
        ended = execute([*words, str(program)], self.folder, limit=60)
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "", ""), f"{wire} {ranks} {nodes}")

    def test_ranks_take_what_others_leave(self) -> None:
        program = self.program("waits", WAITS.replace("SCHEDULE", "dynamic"))
        for ranks, nodes in shapes("waits", SHAPES):
            self.run_over("", ranks, nodes, program)
        for wire in (wire for wire, plugin in WIRES if (PLUGINS / f"wire-{plugin}.so").exists()):
            self.run_over(wire, 3, 3, program)
            self.run_over(wire, 4, 2, program)

    def test_a_chunk_has_an_iteration(self) -> None:
        for ranks in (1, 3):
            ended = self.launch(ranks, 1, self.program("bad", BAD_CHUNK))
            self.assertNotEqual(ended.returncode, 0)
            self.assertRegex(ended.stderr, r"bad\.c:6: a chunk of its schedule has 0 iterations; it has at least one")

    def test_messages_when_nothing_is_left(self) -> None:
        """Per rank and loop: a few for the barrier, and for the words of at most two of four nodes."""
        if not (PLUGINS / "wire-ucx.so").exists():
            self.skipTest("no wire")
        counts = {}
        for schedule in ("static", "dynamic, 64"):
            program = self.program("empty", EMPTY.replace("dynamic, 64", schedule))
            words = [HIROBARUN, "-n", "4", "--nodes", "4", "--transport", "ucx", "--stats", str(program)]
            ended = execute(words, self.folder, limit=60)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            counts[schedule] = sum(int(n) for n in re.findall(r"(\d+) messages", ended.stderr))
        self.assertLess(counts["dynamic, 64"] - counts["static"], 4 * 100 * 40)


if __name__ == "__main__":
    unittest.main()
