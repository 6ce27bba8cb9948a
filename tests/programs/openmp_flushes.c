/* An OpenMP program without anything of Hiroba: two threads wait for each other by flush, in turns. The one in rank 0
 * sends no message to look, and has to answer the looks of the other one. Prints "ok" if the waiting has cost little.
 */
#include <omp.h>
#include <stdio.h>

enum { turns = 300, most_seconds = 20 };
static int at[2];

static void wait_for(int thread, int turn) {
  while (at[thread] < turn) {
#pragma omp flush
  }
}

int main(void) {
  const double begin = omp_get_wtime();
#pragma omp parallel num_threads(2)
  {
    const int me = omp_get_thread_num();
    for (int turn = 1; turn <= turns; ++turn) {
      if (me == 1) wait_for(0, turn);
      at[me] = turn;
#pragma omp flush
      if (me == 0) wait_for(1, turn);
    }
  }
  /* The progress thread alone would answer milliseconds later, which takes longer than that over MPI. */
  const double seconds = omp_get_wtime() - begin;
  if (at[0] != turns || at[1] != turns) printf("%d and %d turns instead of %d\n", at[0], at[1], turns);
  else if (seconds > most_seconds) printf("%g s for %d turns\n", seconds, turns);
  else puts("ok");
  return 0;
}
