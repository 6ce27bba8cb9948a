/* Cases of the memory benchmark: what one access, one page or one synchronisation costs, each beside its rival in the
 * same process. Every case checks the data it moved; every figure is the median of `rounds`. Rank 0 owns the memory,
 * the last rank uses it; all ranks call every case.
 */
#ifndef BENCH_MEMORY_CASES_H
#define BENCH_MEMORY_CASES_H

#include <stddef.h>

#include "../../apps/common/clock.h"

enum { page_bytes = 4096 };

typedef struct samples {
  int count;
  double value[64];
} samples;

void add(samples* s, double value);
double median(samples* s); /* sorts */
void check(int ok, const char* what);

/* One "name": value pair of the JSON line; printed by the last rank at the end of the case. */
void report(const char* name, double value);

typedef struct parameters {
  size_t bytes; /* of the array worked on */
  int rounds;
} parameters;

void triad(parameters p);
void faults(parameters p);
void faults_by_8(parameters p);
void first_writes(parameters p);
void barrier_dirty(parameters p);
void barrier_empty(parameters p);
void sequential(parameters p);
void preload(parameters p);
void release(parameters p);
void drop(parameters p);
void jacobi(parameters p);

#endif
