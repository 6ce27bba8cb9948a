/* Threads that use pages of the next one between two barriers, again and again: WIDE pages for a while, then NARROW
 * ones. openmp_regions.py counts what that costs. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { page = 4096 / sizeof(double), pages = 16, steps_of_each = 48 };

int main(void) {
  const int threads = omp_get_max_threads();
  double* const data = malloc(sizeof(double) * page * pages * threads);
  int wrong = 0;
  /* A page without memory is fetched otherwise, together with its neighbours: that is not what is counted here. */
  for (int i = 0; i < pages * threads; ++i) data[i * page] = 0;
  for (int step = 1; step <= 2 * steps_of_each; ++step) {
    const int used = step <= steps_of_each ? pages : 4;
#pragma omp parallel reduction(+ : wrong)
    {
      const int me = omp_get_thread_num(), next = (me + 1) % threads;
      for (int p = 0; p < pages; ++p) data[(me * pages + p) * page] = step + me;
#pragma omp barrier
      for (int p = 0; p < used; ++p) wrong += data[(next * pages + p) * page] != step + next;
    }
  }
  puts(wrong == 0 ? "ok" : "wrong");
  free(data);
  return wrong != 0;
}
