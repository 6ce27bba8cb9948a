"""usage: openmp_misuse.py HIROBARUN HIROBACC FOLDER: mistakes with OpenMP programs over ranks, and their messages."""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from openmp_jobs import FOLDER, HIROBACC, HIROBARUN, OpenMPTest

COUNT = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int count = 0;
#pragma omp parallel
  {
#pragma omp atomic
    count += 1;
    if (argc > 1 && omp_get_thread_num() == atoi(argv[1])) exit(atoi(argv[2]));
  }
  printf("%d\\n", count);
  return count == omp_get_max_threads() ? 0 : 1;
}
"""
DEEP = """
#include <stdio.h>
static int down(volatile char* above, int depth) {
  volatile char here[4096];
  here[0] = above[0] + 1;
  return depth == 0 ? here[0] : down(here, depth - 1) + here[0];
}
int main(void) {
  int sum = 0;
  char first[1] = {0};
#pragma omp parallel reduction(+ : sum)
  sum += down(first, 1 << 20);
  printf("%d\\n", sum);
}
"""

WAITS = """
#include <omp.h>
#include <string.h>
static omp_lock_t lock;
int main(int argc, char** argv) {
  const char* wait = argv[argc - 1];
  omp_init_lock(&lock);
  omp_set_lock(&lock);
#pragma omp parallel for ordered schedule(static, 1) num_threads(2)
  for (int i = 0; i < 2; i++) {
    if (i == 0 && strcmp(wait, "a lock") == 0) omp_set_lock(&lock);
#pragma omp ordered
    if (i == 0 && strcmp(wait, "an ordered region") == 0) omp_set_lock(&lock);
  }
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) omp_set_lock(&lock);
#pragma omp barrier
  }
}
"""

JUMP = """
#include <omp.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf outside;
static int within(void) {
  jmp_buf here;
  volatile int tries = 0;
  if (setjmp(here) < 3) {
    ++tries;
    longjmp(here, tries);
  }
  return tries;
}
int main(int argc, char** argv) {
  int tries = within();
  if (setjmp(outside) != 0) return 7;
#pragma omp parallel reduction(+ : tries)
  {
    tries += within();
    if (argc > 1 && omp_get_thread_num() == atoi(argv[1])) longjmp(outside, 1);
  }
  printf("%d\\n", tries - 3 * omp_get_max_threads());
}
"""
MANY = """
#include <omp.h>
#include <stdio.h>
int main(void) {
  int threads = 0;
  for (int i = 0; i < 2; ++i) {
#pragma omp parallel num_threads(300)
#pragma omp single
    threads = omp_get_num_threads();
  }
  printf("%d\\n", threads);
}
"""
FORK = """
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  char* const words[] = {"echo", "a program in the place of main", NULL};
  if (fork() != -1 || errno != ENOSYS) return 3;
  if (execvp(words[0], words) != -1 || errno != ENOSYS) return 4;
  if (execlp("echo", words[0], words[1], NULL) != -1 || errno != ENOSYS) return 5;
  return system("echo a program of another process");
}
"""
OLD = """
void GOMP_parallel_start(void (*)(void*), void*, unsigned);
static void work(void* data) { ++*(int*)data; }
int main(int argc, char** argv) {
  int sum = 0;
  (void)argv;
  if (argc > 1) GOMP_parallel_start(work, &sum, 2);
  return sum;
}
"""

MAPS = """
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
int main(int argc, char** argv) {
  if (argc < 2) return 1;
  if (strcmp(argv[1], "shmat") == 0) return shmat(0, NULL, 0) != (void*)-1;
  const int kind = MAP_PRIVATE | MAP_ANONYMOUS;
  if (strcmp(argv[1], "code") == 0) return mmap(NULL, 4096, PROT_EXEC, kind, -1, 0) != MAP_FAILED;
  char* own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  int sum = 0;
#pragma omp parallel reduction(+ : sum)
  sum += own[0];
  return sum;
}
"""

THREADS = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static int display(const char* text, int limit) {
  char got[64];
  const size_t size = omp_capture_affinity(got, sizeof got, text);
  return size > 0 && omp_get_thread_limit() == limit ? atoi(got) : -1000;
}
int main(int argc, char** argv) {
  const int limit = atoi(argv[1]);
  int most = 0, sum = 0, running = 0, first = -1, done = 0;
  omp_set_max_active_levels(3);
#pragma omp parallel num_threads(3) reduction(+ : sum)
  sum += display("%0.5n", limit) == omp_get_thread_num() && display("%{num_threads}", limit) == 3;
#pragma omp parallel num_threads(7)
#pragma omp single
  most = omp_get_num_threads();
#pragma omp parallel num_threads(2) shared(running)
#pragma omp parallel num_threads(3) shared(running)
  {
    int now;
#pragma omp atomic capture
    now = ++running;
    if (now > limit) abort();
#pragma omp barrier
#pragma omp atomic
    --running;
  }
#pragma omp parallel num_threads(2)
  {
    int begun = 0, over = omp_get_thread_num();
    while (!over) {
#pragma omp atomic read
      over = done;
    }
#pragma omp for schedule(guided) nowait
    for (int i = 0; i < 1000; ++i)
      if (omp_get_thread_num() == 1 && !begun) begun = 1, first = i;
    if (omp_get_thread_num() == 1) {
#pragma omp atomic write
      done = 1;
    }
  }
  printf("%d %d %d\\n", sum, most, first);
  return 3;
}
"""
FILE = """
program file
  !$omp parallel
  !$omp end parallel
  print '(a)', 'before'
  open (unit=7, file='no/such/folder/file')
  write (7, *) 'something'
end program
"""
UNIT = """
program unit
  integer :: i, n
  open (30, status='scratch')
  write (30, *) 1, 2
  rewind (30)
  !$omp parallel do schedule(static, 1) ordered
  do i = 1, 2
    !$omp ordered
    read (30, *) n
    !$omp end ordered
  end do
end program
"""
STREAM = """
#include <stdio.h>
int main(void) {
  FILE* file = tmpfile();
  int sum = 0;
  fputs("12", file);
  rewind(file);
#pragma omp parallel for ordered schedule(static, 1) reduction(+ : sum)
  for (int i = 0; i < 2; i++) {
#pragma omp ordered
    sum += fgetc(file);
  }
  return sum;
}
"""


class Misuse(OpenMPTest):
    def test_waits_that_never_end(self) -> None:
        program = self.build("waits", WAITS, "-fopenmp-nodes", "-g")
        for nodes, wait, others in (
            ("1", "a lock", "a barrier of OpenMP|an ordered region"),
            ("2", "an ordered region", "an ordered region"),
            ("2", "a barrier", "a barrier of OpenMP"),
        ):
            limits = ["--still", "2", "--timeout", "4"]  # beside other work a rank may begin to wait a second later
            status, output = self.run_job("-n", "2", "--nodes", nodes, "--threads", "1", *limits, program, wait)
            self.assertEqual(status, 1, output)
            self.assertRegex(output, r"no rank has advanced .* waits in a lock of OpenMP at .*\(waits\.c:\d+\)")
            self.assertRegex(output, rf"no rank has advanced .* waits in ({others})\b")
            self.assertRegex(output, r"waited 4\S* s \(option timeout\) in (a lock|a barrier|an ordered)")

    def test_atomics_that_are_instructions(self) -> None:
        program = self.build("inlined", COUNT, "-fopenmp-nodes", "-finline-atomics", "-g")
        status, output = self.run_job("-n", "2", "--nodes", "2", program)
        self.assertEqual(status, 1, output)
        self.assertRegex(output, r"an instruction, in main\S* \(inlined\.c:\d+\), which")
        self.assertIn("compile all files with -fno-inline-atomics", output)

    def test_one_node_may_have_them(self) -> None:
        program = self.build("inlined_too", COUNT, "-fopenmp-nodes", "-finline-atomics")
        status, output = self.run_job("-n", "2", program)
        self.assertEqual((status, output), (0, "2\n"))

    def test_another_address(self) -> None:
        library = Path(HIROBARUN).resolve().parent.parent / "lib"
        words = ["-fopenmp", "-Wl,--no-as-needed", f"-L{library}", f"-Wl,-rpath,{library}", "-lhiroba_openmp"]
        program = self.build("elsewhere", COUNT, *words, "-lhiroba")
        status, output = self.run_job("-n", "2", program)
        self.assertEqual(status, 1, output)
        self.assertIn("link it by hirobacc -fopenmp-nodes", output)

    def test_libgomp_named_by_the_makefile(self) -> None:
        program = self.build("names_libgomp", COUNT, "-fopenmp-nodes", "-lgomp")
        status, output = self.run_job("-n", "2", program)
        self.assertEqual((status, output), (0, "2\n"))

    def test_libgomp_too_early(self) -> None:
        library = Path(HIROBARUN).resolve().parent.parent / "lib"
        words = ["-fopenmp", "-fPIE", "-Wl,-no-pie,--no-relax,-Ttext-segment=0x200000000000,--no-as-needed", "-lgomp"]
        rest = [f"-L{library}", f"-Wl,-rpath,{library}", "-lhiroba_openmp", "-lhiroba"]
        program = self.build("too_early", COUNT, *words, *rest)
        status, output = self.run_job("-n", "2", program)
        self.assertEqual(status, 1, output)
        self.assertIn("is linked before libhiroba_openmp", output)

    def test_exit_in_a_region(self) -> None:
        program = self.build("leaves", COUNT, "-fopenmp-nodes")
        for thread in "01":
            status, output = self.run_job("-n", "2", program, thread, "5")
            self.assertEqual(status, 5, output)
            self.assertIn("exit(5) in a parallel region", output)
            status, output = self.run_job("-n", "2", program, thread, "0")
            self.assertEqual((status, output), (0, ""))

    def test_threads_are_those_of_all_ranks(self) -> None:
        program = self.build("threads", THREADS, "-fopenmp-nodes")
        words = ["-n", "2", "--threads", "2", "env", "OMP_THREAD_LIMIT=4", program, "4"]
        status, output = self.run_job(*words)
        self.assertEqual((status, output.splitlines()[0]), (3, "3 4 0"), output)
        self.assertRegex(output, "exited with status 3 after the end of the program$")
        status, output = self.run_job(*words[:4], "--nodes", "2", *words[4:])
        self.assertEqual((status, output.splitlines()[0]), (3, "3 4 500"), output)

    def test_a_limit_below_the_ranks(self) -> None:
        program = self.build("limited", COUNT, "-fopenmp-nodes")
        status, output = self.run_job("-n", "3", "--threads", "1", "env", "OMP_THREAD_LIMIT=2", program)
        self.assertRegex(output, "OMP_THREAD_LIMIT=2 is less than one thread for each of the 3 ranks")
        self.assertEqual(output.splitlines()[0], "1")

    def test_displays_name_the_rank(self) -> None:
        program = self.build("displays", COUNT, "-fopenmp-nodes")
        environment = {**os.environ, "OMP_DISPLAY_AFFINITY": "TRUE"}
        run = subprocess.run(
            [HIROBARUN, "-n", "2", "--threads", "2", program],
            capture_output=True,
            text=True,
            timeout=300,
            env=environment,
        )
        for rank in "01":
            self.assertIn(f"rank {rank} level 1 thread", run.stderr)

    def test_memory_of_a_rank_alone(self) -> None:
        program = self.build("maps", MAPS, "-fopenmp-nodes", "-g")
        status, output = self.run_job("-n", "2", program, "shmat")
        self.assertEqual((status, output.count("shmat() fails in an OpenMP program over ranks")), (0, 1), output)
        status, output = self.run_job("-n", "2", program, "code")
        self.assertEqual((status, output.count("mmap() fails in an OpenMP program over ranks")), (0, 1), output)
        status, output = self.run_job("-n", "2", program, "stack")
        self.assertEqual(status, 139, output)
        self.assertRegex(output, r"may be in another rank alone: .* or mmap\(\) with MAP_STACK")

    def test_a_stream_that_main_has_opened(self) -> None:
        program = self.build("stream", STREAM, "-fopenmp-nodes", "-g")
        status, output = self.run_job("-n", "2", "--threads", "1", program)
        self.assertEqual(status, 1, output)
        self.assertRegex(output, r"fgetc\(\) at main\S* \(stream\.c:11\) uses a stream that rank 0 has opened")

    @unittest.skipUnless(shutil.which("gfortran"), "needs gfortran")
    def test_a_unit_that_main_has_opened(self) -> None:
        program = self.build("unit", UNIT, "--cc", "gfortran", "-fopenmp-nodes", suffix="f90")
        status, output = self.run_job("-n", "2", "--threads", "1", program)
        self.assertEqual(status, 1, output)
        self.assertRegex(output, r"unit\.f90:10: unit 30 is open in rank 0, and another rank reads it")

    def test_fork_and_exec(self) -> None:
        program = self.build("forks", FORK, "-fopenmp-nodes")
        status, output = self.run_job("-n", "2", program)
        self.assertEqual(status, 0, output)
        for call in ("fork", "execvp", "execlp"):
            self.assertRegex(output, rf"{call}\(\) fails in .*start programs by posix_spawn\(\)")
        self.assertIn("a program of another process", output)
        self.assertNotIn("in the place of main", output)

    def test_a_function_that_libgomp_would_perform_for_one_rank(self) -> None:
        program = self.build("old", OLD, "-fopenmp-nodes")
        status, output = self.run_job("-n", "2", program)
        self.assertEqual(status, 1, output)
        self.assertIn("this program calls GOMP_parallel_start, which only code of GCC 4 calls", output)

    @unittest.skipUnless(shutil.which("gfortran"), "needs gfortran")
    def test_an_error_of_fortran(self) -> None:
        program = self.build("file", FILE, "--cc", "gfortran", "-fopenmp-nodes", suffix="f90")
        status, output = self.run_job("-n", "2", program)
        self.assertEqual(status, 2, output)
        self.assertIn("before\n", output)
        self.assertIn("Cannot open file 'no/such/folder/file'", output)

    def test_a_program_that_gcc_alone_has_built(self) -> None:
        program = self.build("lone", COUNT, "-fopenmp")
        status, output = self.run_job("-n", "2", program)
        self.assertEqual(status, 0, output)
        self.assertIn(f"each rank has run {program} whole, an OpenMP program that does not use Hiroba", output)
        self.assertNotIn("whole", self.run_job("-n", "1", program)[1])

    @unittest.skipUnless(shutil.which("clang") and shutil.which("gcc"), "needs clang")
    def test_a_program_of_clang(self) -> None:
        words = [HIROBACC, "--cc", "clang", "-fopenmp-nodes", str(FOLDER / "x.c"), "-o", str(FOLDER / "x")]
        run = subprocess.run(words, capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 1)
        self.assertIn("-fopenmp-nodes needs gcc, g++ or gfortran", run.stderr)
        library, caller = FOLDER / "libkmpc.so", "void __kmpc_barrier(void); int main(void) { __kmpc_barrier(); }"
        source = FOLDER / "kmpc_library.c"
        source.write_text("void __kmpc_barrier(void) {}")
        subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True, timeout=300)
        link = [f"-L{FOLDER}", f"-Wl,-rpath,{FOLDER}", "-lkmpc"]
        program = self.build("calls_kmpc", caller, "-fopenmp-nodes", "-Wl,--no-as-needed", *link)
        status, output = self.run_job("-n", "2", program)
        self.assertEqual(status, 1, output)
        self.assertIn("was compiled by clang, whose OpenMP calls libomp", output)

    @unittest.skipUnless(shutil.which("gcc"), "needs gcc")
    def test_a_shared_library_that_gcc_alone_has_built(self) -> None:
        part = """
        static int table[1000];
        int fill(void) {
          int sum = 0;
        #pragma omp parallel for
          for (int i = 0; i < 1000; i++) table[i] = i;
          for (int i = 0; i < 1000; i++) sum += table[i];
          return sum;
        }
        """
        main = """
        int fill(void);
        int main(void) {
          int sum = 0;
        #pragma omp parallel reduction(+ : sum)
          sum += 1;
          return fill() == 499500 && sum == 2 ? 0 : 1;
        }
        """
        source, library = FOLDER / "part.c", FOLDER / "libpart.so"
        FOLDER.mkdir(exist_ok=True, parents=True)
        source.write_text(part)
        words = ["-fPIC", "-shared", str(source), "-o", str(library)]
        subprocess.run(["gcc", "-fopenmp", *words], check=True, timeout=300)
        link = ["-Wl,--no-as-needed", f"-Wl,-rpath,{FOLDER}", str(library)]
        program = self.build("uses_part", main, "-fopenmp-nodes", *link)
        status, output = self.run_job("-n", "2", "--nodes", "2", "--threads", "1", program)
        self.assertEqual(status, 0, output)
        self.assertIn("libpart.so has parallel regions, which rank 0 alone runs", output)

    def test_a_program_without_openmp(self) -> None:
        text = 'int puts(const char*); int main(void) { puts("once"); }'
        program = self.build("serial", text, "--cc", "gcc")
        status, output = self.run_job("-n", "2", program)
        self.assertEqual(status, 0, output)
        self.assertIn(f"each rank has run {program} whole, a program that uses neither Hiroba nor OpenMP", output)
        for usual in ("true", "/bin/true", sys.executable):
            self.assertNotIn("whole", self.run_job("-n", "2", usual, "--version")[1])
        compiled = FOLDER / "serial.o"
        subprocess.run(["gcc", "-c", "-fPIE", str(FOLDER / "serial.c"), "-o", str(compiled)], check=True, timeout=300)
        words = [HIROBACC, "-fopenmp-nodes", str(compiled), "-o", str(FOLDER / "linked")]
        subprocess.run(words, check=True, timeout=300)
        status, output = self.run_job("-n", "2", str(FOLDER / "linked"))
        self.assertEqual((status, output.count("once")), (0, 1), output)
        self.assertIn("this program calls nothing of OpenMP, so rank 0 alone runs it", output)

    def test_a_stack_that_overflows(self) -> None:
        program = self.build("deep", DEEP, "-fopenmp-nodes")
        status, output = self.run_job("-n", "2", program)
        self.assertNotEqual(status, 0, output)
        self.assertIn("the stack of a thread", output)
        self.assertRegex(output, r"deep.*\n +\.\.\. \d+ more")  # a recursion is written once

    def test_stacks_without_room(self) -> None:
        program = self.build("roomy", COUNT, "-fopenmp-nodes")
        status, output = self.run_job("-n", "2", "env", "OMP_STACKSIZE=200G", program)
        self.assertEqual(status, 1, output)
        self.assertRegex(output, r"no room for .*stacks for \d+ threads, of 204800 MiB each: lower OMP_STACKSIZE")

    def test_more_threads_than_stacks(self) -> None:
        program = self.build("many", MANY, "-fopenmp-nodes")
        status, output = self.run_job("-n", "2", "--threads", "1", program)
        self.assertEqual(status, 0, output)
        self.assertEqual(output.splitlines()[0], "128")
        self.assertRegex(output, r"asks for 300 threads, and gets 128, .* hirobarun --threads 150")
        self.assertEqual(output.count("300 threads"), 1)

    def test_longjmp(self) -> None:
        program = self.build("jumps", JUMP, "-fopenmp-nodes", "-g")
        for nodes in "12":
            words = ["-n", "2", "--nodes", nodes, "--threads", "1", program]
            self.assertEqual(self.run_job(*words), (0, "3\n"))
            for thread in "01":
                status, output = self.run_job(*words, thread)
                self.assertEqual(status, 1, output)
                self.assertRegex(output, rf"rank {thread}: longjmp\(\) leaves a parallel region, at .*jumps.c:22")

    def test_what_hirobarun_gives_is_lost(self) -> None:
        program = self.build("lost", COUNT, "-fopenmp-nodes")
        shell = f'for i in $(seq 3 40); do eval "exec $i>&-"; done; exec {program}'
        status, output = self.run_job("-n", "2", "bash", "-c", shell)
        self.assertNotEqual(status, 0, output)
        self.assertIn("does a wrapper script between hirobarun and the program close them", output)

    def test_alone(self) -> None:
        program = self.build("alone", COUNT, "-fopenmp-nodes")
        environment = {**os.environ, "OMP_NUM_THREADS": "3"}
        run = subprocess.run([program], capture_output=True, text=True, timeout=300, env=environment)
        self.assertEqual((run.returncode, run.stdout), (0, "3\n"))

    def test_flags_that_do_not_fit(self) -> None:
        words = [HIROBACC, "-fopenmp-nodes", "-static", "x.c", "-o", "x"]
        run = subprocess.run(words, capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 1)
        self.assertIn("-fopenmp-nodes with -static", run.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
