/* An OpenMP program without anything of Hiroba: two threads wait for each other by looking at variables, in turns.
 * A thread that waits must leave a core that they share to the other. Prints "ok" if the waiting has cost little.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

enum { turns = 200 };
static int turn, lock;

/* Waits by loads. */
static void wait_for(int number) {
  int now = -1;
  while (now != number) {
#pragma omp atomic read
    now = turn;
  }
}

/* Waits by attempts to take the lock. */
static void take_turn(int thread, int i) {
  for (int free = 2 * i + thread;
       !__atomic_compare_exchange_n(&lock, &free, free + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);)
    free = 2 * i + thread;
}

int main(void) {
  int taken = 0;
  const int core = sched_getcpu();
#pragma omp parallel num_threads(2) reduction(+ : taken)
  {
    const int thread = omp_get_thread_num();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
    for (int i = 0; i < turns; ++i) {
      wait_for(2 * i + thread);
      ++taken;
#pragma omp atomic write
      turn = 2 * i + thread + 1;
    }
    for (int i = 0; i < turns; ++i) take_turn(thread, i);
  }
  /* A thread that used up its share of the core before it let the other one go on would take some 3 ms a turn. */
  const double seconds = (double)clock() / CLOCKS_PER_SEC;
  if (taken != 2 * turns || lock != 2 * turns) printf("%d and %d turns instead of %d\n", taken, lock, 2 * turns);
  else if (seconds > 0.5) printf("%g s for %d turns\n", seconds, 4 * turns);
  else puts("ok");
  return 0;
}
