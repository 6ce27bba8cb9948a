"""#pragma hiroba atomic: what people write (the folder atomic), random programs, conflicts of ranks and threads, and
--explain. A C compiler that does not know the directive runs blocks as they are written: its answers are right."""

import os
import re
import unittest

from compiling import HERE, HIROBARUN, ONCE, CompilerTest, execute, shapes, some
from transaction_programs import FIRST_TIME, Program

FLAGS = ("-O1", "-fopenmp", "-Wall", "-Wextra", "-Werror")
SEED = int(os.environ.get("TRANSACTION_SEED", "0"))
BANK = """#include <sms.h>
#include <stdio.h>
#define ACCOUNTS 32
struct account { int64_t balance, uses; };
static int64_t take(struct account* from, int64_t amount) {
  from->uses++;
  return from->balance < -amount * 50 ? 0 : (from->balance -= amount, amount);
}
int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  struct account* bank = sms_alloc(sizeof *bank, ACCOUNTS, 0);
  unsigned state = 12345u + 77u * (unsigned)sms_rank;
  int64_t tries = 0;
  for (int i = 0; i < 1000; i++) {
    state = state * 1664525u + 1013904223u;
    const unsigned a = state >> 8 & 31, b = state >> 13 & 31;
#pragma hiroba atomic
    {
      const int64_t amount = take(&bank[a], 1 + (int64_t)(state >> 20 & 7));
      bank[b].balance += amount;
      bank[b].uses++;
      tries++;
    }
  }
  sms_barrier();
  int64_t sum = 0, uses = 0;
  for (int i = 0; i < ACCOUNTS; i++) sum += bank[i].balance, uses += bank[i].uses;
  if (sms_rank == 0) printf("%ld %d %d\\n", (long)sum, uses == 2000 * sms_nprocs, tries == 1000);
  sms_shutdown();
}
"""
THREADS = """#include <stdio.h>
#include <stdlib.h>
static long hist[8];
static struct node { struct node* next; long value; } *head;
int main(void) {
  long sum = 0, own[4] = {0};
  int wrong = 0;
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < 4000; i++) {
    int mine = 0;
#pragma hiroba atomic
    {
      struct node* made = malloc(sizeof *made);
      made->value = i, made->next = head, head = made;
      sum += i, hist[i % 8]++, own[i & 3]++, mine++;
    }
#pragma hiroba atomic
    {
      struct node* first = head;
      head = first->next;
      free(first);
      wrong += mine != 1;
    }
  }
  long all = 0;
  for (int i = 0; i < 8; i++) all += hist[i];
  printf("%ld %ld %ld %d %d\\n", sum, all, own[0] + own[1] + own[2] + own[3], head == 0, wrong);
}
"""


class Transactions(CompilerTest):
    def answer(self, name: str, *flags: str) -> str:
        """The output of the program with a compiler that does not know the directive."""
        ended = execute(["cc", "-w", "-O1", *flags, name, "-o", "plain", "-lm"], self.folder)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return execute(["./plain"], self.folder).stdout

    def test_variants(self) -> None:
        found = sorted((HERE / "atomic").glob("*.c"))
        self.assertGreaterEqual(len(found), 40)
        for path in some(found):
            with self.subTest(path.stem):
                right = self.answer(str(path))
                for level in shapes(path.stem, ("-O0", "-O2")):
                    self.compiled(level, "-Wall", "-Wextra", path, "-o", "program", "-lm")
                    ended = execute(["./program"], self.folder)
                    self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, right, ""))

    def test_random_programs(self) -> None:
        """Each block runs twice, the first time in vain: a restart leaves no trace."""
        self.write("again.c", FIRST_TIME)
        execute(["cc", "-c", "again.c"], self.folder)
        for seed in range(SEED, SEED + (6 if ONCE else 25)):
            with self.subTest(f"TRANSACTION_SEED={seed}"):
                self.write("program.c", Program(seed).text())
                right = self.answer("program.c", "-fwrapv")
                for level in shapes(str(seed), ("-O0", "-O2")):
                    flags = (level, "-w", "-fwrapv", "-DRESTARTED")
                    self.compiled(*flags, "program.c", "again.o", "-o", "program")
                    ended = execute(["./program"], self.folder)
                    self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, right, ""))

    def test_ranks_in_conflict(self) -> None:
        self.write("bank.c", BANK)
        self.compiled(*FLAGS, "bank.c", "-o", "bank")
        for ranks, nodes in ((1, 1), (2, 2), (3, 2)):
            for chaos in shapes(str(ranks), (0, 3)):
                with self.subTest(ranks=ranks, nodes=nodes, chaos=chaos):
                    job = [HIROBARUN, "-n", str(ranks), "--nodes", str(nodes), "--chaos", str(chaos), "--timeout", "50"]
                    ended = execute([*job, "./bank"], self.folder)
                    self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "0 1 1\n", ""))

    def test_threads_in_conflict(self) -> None:
        """Variables of the function that threads share are shared memory, too."""
        self.write("threads.c", THREADS)
        self.compiled(*FLAGS, "threads.c", "-o", "threads")
        for _ in range(1 if ONCE else 5):
            ended = execute(["./threads"], self.folder)
            self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "7998000 4000 4000 1 0\n", ""))

    def test_explain(self) -> None:
        ended = self.compile("--explain", "-c", HERE / "golden" / "transaction_called.c")
        told = re.sub(r"(?m)^.*/(?=\w+\.c:)", "", ended.stderr + ended.stdout)
        self.assertIn(
            "transaction_called.c:30:1: atomic: loads `all->head`; stores `all->head`, `all->count`;"
            " calls copies of `insert`, `length`; as it was after a restart: `seen`\n",
            told,
        )
        self.assertIn(": transactional copy of length: loads `at->next`; calls copies of `length`\n", told)

    def test_without_other_notation_no_job_is_started(self) -> None:
        """Under hirobarun, too, private memory needs none."""
        self.write("plain.c", "int a;\nint main(void) {\n#pragma hiroba atomic\n  a++;\n  return a - 1;\n}\n")
        shown = self.compiled("--show", "plain.c").stdout
        self.assertNotIn("smint_start", shown)
        self.compiled("plain.c", "-o", "plain")
        self.assertEqual(self.launch(2, 1, "./plain").returncode, execute(["./plain"], self.folder).returncode)

    def test_every_refusal_names_the_block_that_leads_there(self) -> None:
        text = '#include <stdio.h>\nstatic void last(void) { puts(""); }\nstatic void first(void) { last(); }\n'
        self.write("deep.c", text + "int main(void) {\n#pragma hiroba atomic\n  first();\n}\n")
        ended = self.compile("-c", "deep.c")
        self.assertRegex(
            ended.stderr, r"(?m)^deep\.c:2:\d+: error: `puts` in `last`, which the transaction at deep\.c:5 calls"
        )
        self.assertFalse((self.folder / "deep.o").exists())


if __name__ == "__main__":
    unittest.main()
