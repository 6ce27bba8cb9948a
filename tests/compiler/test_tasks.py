"""Loops of SMint whose tiles are tasks: right answers at several numbers of ranks, threads and nodes, with delays, and
where the program waits for the tasks."""

import os
import pathlib
import unittest

from compiling import HERE, HIROBARUN, ONCE, CompilerTest, execute, lines_of_user, shapes
from tile_nests import program

PLUGIN = pathlib.Path(HIROBARUN).parents[1] / "lib/hiroba/wire-ucx.so"
FLAGS = ("-O1", "-fopenmp", "-Wall", "-Wextra", "-Werror")
PROGRAMS = ("smint_tasks", "smint_tasks_calls", "smint_tasks_cyclic", "smint_tasks_empty")
SHAPES = (  # ranks, nodes, threads, seed of chaos
    (1, 1, 2, 0),
    (2, 1, 1, 3),
    (2, 2, 2, 5),
    (3, 1, 1, 0),
    (3, 2, 1, 7),
    (4, 1, 1, 5),
    (4, 2, 1, 0),
    (4, 4, 1, 3),
)
HEAD = """#include <smint.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[100], b[100];
double look(void);
"""
LOOP = "#pragma SMint parallel for tasks\n  for (int i = 0; i < 100; i++) a[i] = b[i];\n"


class TaskLoops(CompilerTest):
    def test_answers(self) -> None:
        for name in PROGRAMS:
            self.compiled(*FLAGS, HERE / "golden" / f"{name}.c", "-o", name)
            for ranks, nodes, threads, chaos in shapes(name, SHAPES):
                with self.subTest(name, ranks=ranks, nodes=nodes, threads=threads, chaos=chaos):
                    job = [HIROBARUN, "-n", str(ranks), "--nodes", str(nodes), "--threads", str(threads)]
                    job += ["--chaos", str(chaos), "--timeout", "30", f"./{name}"]
                    ended = execute(job, self.folder, env=dict(os.environ))
                    self.assertEqual((ended.returncode, ended.stdout), (0, "OK\n"), ended.stderr)

    def test_random_nests(self) -> None:
        for seed in range(3 if ONCE else 8):
            self.write("nests.c", program(seed))
            self.compiled("-O1", "nests.c", "-o", "nests")
            for ranks, nodes, threads in shapes(str(seed), ((1, 1, 2), (2, 2, 1), (3, 1, 1), (4, 2, 1))):
                with self.subTest(seed, ranks=ranks, nodes=nodes):
                    job = [HIROBARUN, "-n", str(ranks), "--nodes", str(nodes), "--threads", str(threads)]
                    job += ["--chaos", str(seed % 6), "--timeout", "30", "./nests"]
                    ended = execute(job, self.folder, env=dict(os.environ))
                    self.assertEqual((ended.returncode, ended.stdout), (0, ""), ended.stderr)

    @unittest.skipUnless(PLUGIN.exists(), f"no {PLUGIN.name}")
    def test_over_a_network(self) -> None:
        for name in shapes("network", PROGRAMS):
            self.compiled(*FLAGS, HERE / "golden" / f"{name}.c", "-o", name)
            for ranks in shapes(name, ("2", "3")):
                job = [HIROBARUN, "-n", ranks, "--nodes", ranks, "--transport", "ucx", "--threads", "1"]
                ended = execute([*job, "--timeout", "30", f"./{name}"], self.folder, env=dict(os.environ))
                self.assertEqual((ended.returncode, ended.stdout), (0, "OK\n"), ended.stderr)

    def waits(self, body: str) -> list[int]:
        """The lines of the body in which the program waits, counted from 1."""
        self.write("waits.c", f"{HEAD}double f(int n) {{\n{body}}}\n")
        shown = self.compiled("--show", *FLAGS, "waits.c").stdout
        lines = lines_of_user(shown, "waits.c").split("\n")
        found = [int(line.split()[0]) for line in lines for _ in range(line.count("smint_taskwait("))]
        return [at - HEAD.count("\n") - 1 for at in found]

    def test_where_it_waits(self) -> None:
        """Before what may use shared data in another way; loops follow each other by what they use."""
        serial = f"  for (int t = 0; t < n; t++) {{\n{LOOP}{LOOP}  n--;\n  }}\n"
        self.assertEqual(self.waits(f"{LOOP}{LOOP}  n++;\n  return a[n];\n"), [5])
        self.assertEqual(self.waits(f"{serial}  return a[n];\n"), [7])
        self.assertEqual(self.waits(f"  if (n > 3)\n{LOOP}  return look();\n"), [3])
        busy = f"  while (n-- > 0) {{\n{LOOP}  look();\n{LOOP}  }}\n"
        self.assertEqual(self.waits(f"{busy}  return 0;\n"), [3, 6])
        other = "#pragma SMint single\n  a[0] = 1;\n"
        self.assertEqual(self.waits(f"{LOOP}{other}{LOOP}  return 0;\n"), [2, 6])

    def test_a_table_in_shared_memory(self) -> None:
        """Of subscripts, which are read before the tasks that might write it have run."""
        self.write(
            "table.c",
            f"#include <sms.h>\n{HEAD}void f(const int* row);\nvoid f(const int* row) {{\n"
            "#pragma SMint parallel for tasks tile(1)\n  for (int i = 0; i < 100; i++) a[row[i]] = i;\n}\n"
            "int main(void) {\n  f(sms_alloc(100 * sizeof(int), 2, 0));\n}\n",
        )
        self.compiled(*FLAGS, "table.c", "-o", "table")
        ended = self.launch(2, 1, "./table")
        self.assertEqual(ended.returncode, 1, ended)
        self.assertIn("subscripts are read from row, which is shared memory", ended.stderr)

    def test_a_tile_of_nothing(self) -> None:
        self.write(
            "none.c", f"{HEAD}int main(int n, char** v) {{\n(void)v;\n{LOOP.replace('tasks', 'tasks tile(n - 1)')}}}\n"
        )
        self.compiled(*FLAGS, "none.c", "-o", "none")
        ended = self.launch(1, 1, "./none")
        self.assertEqual(ended.returncode, 1, ended)
        self.assertRegex(ended.stderr, r"none\.c:7: a tile of 0 iterations; it has at least one")


if __name__ == "__main__":
    unittest.main()
