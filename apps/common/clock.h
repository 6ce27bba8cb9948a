/* clock.h: the clock of applications and benchmarks. Header only; for C and C++, and programs that link nothing else of
 * this folder. */
#ifndef APPS_COMMON_CLOCK_H
#define APPS_COMMON_CLOCK_H

#include <time.h>

/* Returns the seconds since some fixed moment. */
static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
