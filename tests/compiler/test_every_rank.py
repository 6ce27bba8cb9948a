"""What every rank does although one should: in every_rank/ the lines of programs that are errors say so themselves."""

import re
import unittest

import hints
from compiling import HERE, CompilerTest, execute

PROGRAMS = HERE / "every_rank"
FILES = {
    "parts.h": """
#include <smint.h>
enum { N = 8 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
extern double a[N], b[N];
extern int rank_of_this, count_of_all;
int me(void), is_root(void), size(void), size_of_plain(int);
void get(int* lo, int* hi), setup(void), twice(void), twice_if(int yes), scale(double* v, int n, double by);
void chain(double* v), read_it(int* n), by_own_part(void), plain_scale(double* v, int n);
""",
    "parts.c": """
#include "parts.h"
#include <stdio.h>
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[N], b[N];
int rank_of_this, count_of_all;
static int inner(void) { return MYPID; }
int me(void) { return inner(); }
int is_root(void) { return me() == 0; }
int size(void) { return N; }
void get(int* lo, int* hi) { *lo = MYPID * N / NPROCS, *hi = (MYPID + 1) * N / NPROCS; }
void setup(void) { rank_of_this = sms_rank, count_of_all = N; }
void twice(void) {
  for (int i = 0; i < N; i++) a[i] *= 2; /* every rank */
}
static void here(void) {
  for (int i = 0; i < N; i++) b[i] += 1; /* every rank */
}
void twice_if(int yes) {
  if (yes) here();
}
void scale(double* v, int n, double by) {
  for (int i = 0; i < n; i++) v[i] *= by; /* every rank */
}
void chain(double* v) { scale(v, 3, 2); }
void read_it(int* n) {
  if (scanf("%d", n) != 1) *n = 0; /* every rank */
}
void by_own_part(void) {
  int lo, hi;
  get(&lo, &hi);
  for (int i = lo; i < hi; i++) a[i] *= 2;
}
""",
    "plain.c": """int size_of_plain(int x) { return x * 2; }
void plain_scale(double* v, int n) {
  for (int i = 0; i < n; i++) v[i] *= 3;
}
""",
    "wrong.c": """
#include "parts.h"
static void mine(double* v) { chain(v); }
int main(int argc, char** argv) {
  setup();
  for (int i = 0; i < size(); i++) a[i] *= 2; /* every rank */
  for (int i = 0; i < size_of_plain(4); i++) a[i] += 2; /* every rank */
  for (int i = 0; i < count_of_all; i++) b[i] += 2; /* every rank */
  twice();
  twice_if(argc);
  mine(a);
  plain_scale(b, N);
  read_it(&argc);
  return argv == 0;
}
""",
    "right.c": """
#include "parts.h"
#include <stdio.h>
int main(void) {
  int lo, hi, wrong = 0;
  double t[N] = {0};
  setup();
#pragma SMint parallel for
  for (int i = 0; i < N; i++) a[i] = b[i] = i;
  for (int i = me(); i < N; i += NPROCS) a[i] *= 2;
  get(&lo, &hi);
#pragma SMint barrier
  for (int i = lo; i < hi; i++) a[i] += 1;
  scale(a + lo, hi - lo, 2);
  by_own_part();
  twice_if(is_root());
  scale(t, N, 2);
  plain_scale(t, N);
#pragma SMint barrier
  if (is_root()) a[0] += 1;
  if (rank_of_this == 0) a[1] += 1;
  if (me() == 0) twice();
#pragma SMint single
  {
    twice();
    chain(b);
    read_it(&lo);
  }
  for (int i = 0; i < N; i++)
    wrong += a[i] != (i * 8 + 4 + (i < 2)) * 4 || b[i] != (i + 1) * (i < 3 ? 2 : 1);
  if (wrong == 0 && is_root()) puts("OK");
  return wrong;
}
""",
}


class EveryRank(CompilerTest):
    def check(
        self, name: str, mark: str = "every rank", message: str = "every rank does this", *, errors: bool = True
    ) -> None:
        lines = (PROGRAMS / name).read_text().split("\n")
        marked = {number for number, line in enumerate(lines, 1) if f"/* {mark} */" in line}
        ended = self.compile("-c", PROGRAMS / name, "-o", "out.o")
        said = re.findall(r"\.c:(\d+):\d+: (?:error|warning): " + message, ended.stderr)
        self.assertEqual(sorted(map(int, said)), sorted(marked), ended.stderr)
        self.assertEqual(ended.returncode, int(errors and bool(marked)))
        self.assertEqual(len(re.findall(": (?:error|warning): ", ended.stderr)), len(marked), ended.stderr)

    def test_forgotten_directives(self) -> None:
        self.check("forgotten.c")
        self.check("forgotten_too.c")
        self.check("forgotten_forms.c")

    def test_what_is_meant(self) -> None:
        self.check("meant.c")
        self.check("meant_forms.c")

    def test_sums_without_reduction(self) -> None:
        self.check("sums.c", "own iterations", "each rank gets a `.*` of its own iterations only")

    def test_sums_in_memory_of_callers(self) -> None:
        said = "each rank gets a `.*` of its own iterations only, or, if it is shared, loses"
        self.check("sums_given.c", "of callers", said, errors=False)

    def test_sums_of_nodes(self) -> None:
        self.check("sums_xmp.c", "own nodes", "each node gets a `.*` of its own iterations only", errors=False)

    def test_directives_that_some_ranks_come_to(self) -> None:
        for name in ("some_ranks.c", "some_ranks_smint.c"):
            self.check(name, "some ranks", ".* for all ranks together, and the condition in line", errors=False)

    def test_loops_that_no_directive_divides(self) -> None:
        self.check("forgotten_xmp.c", "not divided", "no directive divides this loop", errors=False)

    def test_barrier_of_some_ranks_at_run_time(self) -> None:
        """The message names the line of the barrier, not only the end of the program, which others came to."""
        text = "#include <xmp.h>\nint main(void) {\n  if (xmpc_node_num() == 0) {\n#pragma xmp barrier\n  }\n}\n"
        self.write("some.c", text)
        self.compiled("-Wno-some-ranks", "some.c", "-o", "some")
        ended = self.launch(3, 2, self.folder / "some")
        self.assertEqual((ended.returncode, ended.stderr.count("\n")), (1, 1), ended.stderr)
        self.assertIn("rank 0 is in xmp_barrier at some.c:4, ", ended.stderr)

    def test_sums_in_shared_memory(self) -> None:
        self.check("sums_shared.c", "same element", "iterations of different ranks change the same element")
        self.compile("-Wno-every-rank", PROGRAMS / "sums_shared.c", "-o", "sums")
        self.check_answer(self.folder / "sums")

    def test_through_several_files(self) -> None:
        """A link finds what is forgotten, in one command or by objects, also with an object of another compiler."""
        for name, text in FILES.items():
            self.write(name, text)
        for name in ("wrong.c", "right.c", "parts.c", "plain.c"):
            self.compiled("-Wall", "-Wpedantic", "-c", name)
        marked = {(name, number) for name in ("wrong.c", "parts.c") for number, line in
                  enumerate(FILES[name].split("\n"), 1) if "/* every rank */" in line}  # fmt: skip
        for words, more in ((("wrong.o", "parts.o", "plain.o"), set[tuple[str, int]]()),
                            (("wrong.c", "parts.c", "plain.c"), {("plain.c", 3)})):  # fmt: skip
            ended = self.compile(*words, "-o", "wrong")
            said = {(name, int(line)) for name, line in re.findall(r"^(\w+\.c):(\d+):\d+: error", ended.stderr, re.M)}
            self.assertEqual((said, ended.returncode), (marked | more, 1), ended.stderr)
            self.compiled(*[word.replace("wrong", "right") for word in words], "-o", "right")
        self.check_answer(self.folder / "right")
        self.assertIn("twice is called at wrong.c:9:3 [-Werror=every-rank]", ended.stderr)
        ended = self.compile("-Wno-error=every-rank", "wrong.o", "parts.o", "plain.o", "-o", "wrong")
        self.assertEqual((ended.stderr.count("warning:"), ended.returncode), (len(marked), 0), ended.stderr)
        self.compiled("-Wno-every-rank", "wrong.o", "parts.o", "plain.o", "-o", "wrong")


class Hints(CompilerTest):
    """Who adds the reduction that a message names gets what the serial program computes."""

    def proposed(self, notation: str, statements: list[str]) -> list[list[str]]:
        """Returns the reductions that are named for each statement; [""] where none is, with the reason."""
        text, lines = hints.program(notation, statements, [""] * len(statements))
        self.write("bare.c", text)
        ended = self.compile("-Wno-error=every-rank", "-c", "bare.c", "-o", "bare.o")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        told: dict[int, list[str]] = {line: [] for line in lines}
        form = re.compile(r"^bare\.c:(\d+):.* of its own iterations only\n(?:.*\|.*\n)*\s+= (.*)$", re.MULTILINE)
        for line, remedy in form.findall(ended.stderr):
            found = re.match(r"add reduction\(([^)]*)\) to the directive", remedy)
            self.assertTrue(found or remedy.startswith("no reduction "), remedy)
            told[int(line)].append(found[1] if found else "")
        return [told[line] for line in lines]

    def follow(self, notation: str, statements: list[str], clauses: list[str]) -> None:
        self.write("serial.c", hints.program("", statements, clauses)[0])
        self.compiled("-Wno-unknown-pragmas", "serial.c", "-o", "serial", "-lm")
        expected = execute([str(self.folder / "serial")], self.folder).stdout
        clauses = [f"reduction({clause})" for clause in clauses]
        self.write("followed.c", hints.program(notation, statements, clauses)[0])
        self.compiled("-Wno-every-rank", "followed.c", "-o", "followed", "-lm")
        self.assertEqual(expected.count("\n"), len(statements))
        self.check_answer(self.folder / "followed", expected, jobs=[(3, 2)])

    def test_operators(self) -> None:
        for notation in ("xmp", "smint"):
            with self.subTest(notation):
                said = self.proposed(notation, [statement for _, statement in hints.STATEMENTS])
                for (operator, statement), clauses in zip(hints.STATEMENTS, said, strict=True):
                    self.assertEqual([clause.split(":")[0] for clause in clauses], [operator], statement)
                each = zip(hints.STATEMENTS, said, strict=True)
                named = [(statement, clauses[0]) for (operator, statement), clauses in each if operator]
                self.follow(notation, [statement for statement, _ in named], [clause for _, clause in named])

    def test_locations(self) -> None:
        said = self.proposed("xmp", [statement for _, statement in hints.LOCATED])
        self.assertEqual(said, [[clause] for clause, _ in hints.LOCATED])
        self.follow("xmp", [statement for _, statement in hints.LOCATED], [clause for clause, _ in hints.LOCATED])


if __name__ == "__main__":
    unittest.main()
