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
        ended = execute([*words, str(program)], self.folder)
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
            ended = execute(words, self.folder)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            counts[schedule] = sum(int(n) for n in re.findall(r"(\d+) messages", ended.stderr))
        self.assertLess(counts["dynamic, 64"] - counts["static"], 4 * 100 * 40)

    def test_explain_who(self) -> None:
        """What is written decides, then what is read, in their order: as share_of() of the library."""
        head = (
            "#include <smint.h>\n#define N 9\n#pragma SMint shared ::[NPROCS](0,NPROCS)\ndouble a[N], m[N][N];\n"
            "#pragma SMint shared ::[NPROCS](0,NPROCS)\nint col[N];\n"
            "double own[N];\nvoid f(double* p, const double* q) {\n  double s = 0;\n"
        )
        one, several = "the home of %s, if its array", "the home of the first of %s whose array"
        loops = (
            ("", "a[i] = own[i];", one % "`a[i]`"),
            ("reduction(+:s)", "s += a[i];", one % "`a[i]`"),
            ("reduction(+:s)", "s += p[i];", one % "`p[i]`"),
            ("", "p[i] = q[i] + a[0];", several % "`p[i]`, `q[i]`"),
            ("", "own[i] = m[i][2] + a[i - 1];", several % "`m[i][2]`, `a[i - 1]`"),
            ("independent", "p[col[i]] = a[i];", several % "`col[i]`, `a[i]`"),
            ("affinity(a[i])", "p[i] = 1;", several % "`a[i]`, `p[i]`"),
            ("", "own[i] = i;", "equal parts, because no array that may be shared"),
        )
        text = "".join(
            f"#pragma SMint parallel for {clause}\n  for (int i = 1; i < N; i++) {body}\n" for clause, body, _ in loops
        )
        self.write("who.c", f"{head}{text}}}\nint main(void) {{\n  f(a, a);\n  return 0;\n}}\n")
        said = re.findall("  who: (.*)", self.compile("-Wno-every-rank", "--explain", "-c", "who.c").stderr)
        for (_, body, expected), line in zip(loops, said, strict=True):
            self.assertTrue(line.startswith(expected), f"{body} {line}")


if __name__ == "__main__":
    unittest.main()
