"""usage: openmp_preprocessed.py HIROBARUN HIROBACC FOLDER: what `hirobacc -E` writes is compiled, as a source or as a
preprocessed one, and older atomic operations are performed where the memory is in both; so in a command with several
files, one of which needs other headers of Hiroba."""

import subprocess
import sys
import unittest

from openmp_jobs import FOLDER, HIROBACC, OpenMPTest

PROGRAM = """
#include <stdio.h>
int main() {
  int changed = 1, count = 0, last = 0;
#pragma omp parallel
  {
    __sync_fetch_and_add(&count, 1);
    __sync_bool_compare_and_swap(&changed, 1, 5);
    if (__sync_val_compare_and_swap(&last, 0, 7) > 7) count = 0;
  }
  printf("%d %d %d\\n", changed, count, last);
  return 0;
}
"""


WITHOUT_MPI = """
#ifdef WITH_MPI
#include <mpi.h>
#endif
int with_mpi(void) { return 0; }
"""


class Preprocessed(OpenMPTest):
    def check_language(self, suffix: str, preprocessed: str, *flags: str) -> None:
        FOLDER.mkdir(exist_ok=True, parents=True)
        source = FOLDER / f"whole.{suffix}"
        source.write_text(PROGRAM)
        words = [HIROBACC, *flags, "-E", str(source)]
        text = subprocess.run(words, check=True, timeout=300, capture_output=True, text=True).stdout
        for kind in (suffix, preprocessed):
            program = self.build(f"again_{kind}", text, *flags, suffix=kind)
            status, output = self.run_job("-n", "2", "--nodes", "2", "--threads", "1", program)
            self.assertEqual((status, output), (0, "5 2 7\n"))

    def test_of_c(self) -> None:
        self.check_language("c", "i", "-fopenmp-nodes")

    def test_of_cxx(self) -> None:
        self.check_language("cpp", "ii", "--cc", "g++", "-fopenmp-nodes")

    def test_of_a_command_with_a_file_that_may_include_mpi(self) -> None:
        FOLDER.mkdir(exist_ok=True, parents=True)
        other = FOLDER / "without_mpi.c"
        other.write_text(WITHOUT_MPI)
        program = self.build("several", PROGRAM, "-fopenmp-nodes", str(other))
        self.assertEqual(self.run_job("-n", "2", "--nodes", "2", "--threads", "1", program), (0, "5 2 7\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
