/* spin.h: work that takes a known time and touches no memory, for benchmarks of what lies between pieces of work.
 * Functions of the calling thread only. */
#ifndef BENCH_SPIN_H
#define BENCH_SPIN_H

#include <stdint.h>

#include "../apps/common/clock.h"

static inline void spin(int64_t rounds) {
  uint64_t x = 1;
  for (int64_t i = 0; i < rounds; i++) {
    x = x * 6364136223846793005u + 1;
    __asm__ volatile("" : "+r"(x)); /* each round waits for the one before */
  }
}

/* Rounds per ns on this core, by the fastest of some tries. */
static inline double spin_rate(void) {
  enum { TRIES = 7, ROUNDS = 1000000 };
  double best = 0;
  for (int i = 0; i < TRIES; i++) {
    const double start = now();
    spin(ROUNDS);
    const double rate = (double)ROUNDS / (1e9 * (now() - start));
    if (rate > best) best = rate;
  }
  return best;
}

#endif
