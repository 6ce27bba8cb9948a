/* What the contestants of this benchmark share: which operations at which sizes, the check of the answers, the clock.
 * A contestant includes this after it has defined
 *
 *   START(argc, argv), RANK, RANKS, STOP      the job
 *   BARRIER()
 *   BUFFER(bytes)                             memory for messages, as the system recommends it
 *   BCAST(buffer, n), ALLREDUCE(send, recv, n), ALLGATHER(send, recv, n), ALLTOALL(send, recv, n)
 *                                             of n doubles (each)
 *
 * and defines its main by it. Output: one line of JSON, seconds by "OPERATION_BYTES".
 */
#ifndef HIROBA_BENCH_COLLECTIVE_H
#define HIROBA_BENCH_COLLECTIVE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../apps/common/clock.h"
#include "../json.h"

enum { BCAST_OF, ALLREDUCE_OF, ALLGATHER_OF, ALLTOALL_OF, BARRIER_OF, OPERATIONS };
static const char* const operation_names[] = {"bcast", "allreduce", "allgather", "alltoall", "barrier"};

static void operate(int operation, double* send, double* recv, int n) {
  if (operation == BCAST_OF) BCAST(recv, n);
  if (operation == ALLREDUCE_OF) ALLREDUCE(send, recv, n);
  if (operation == ALLGATHER_OF) ALLGATHER(send, recv, n);
  if (operation == ALLTOALL_OF) ALLTOALL(send, recv, n);
  if (operation == BARRIER_OF) BARRIER();
}

/* Of rank r, for element i of what it gives to all; whole numbers, so that sums are exact. */
static double given(int r, long i) { return (double)(r * 1000 + i % 997); }

static void fill(int operation, double* send, double* recv, int n) {
  for (long i = 0; i < (long)n * (operation == ALLTOALL_OF ? RANKS : 1); i++) send[i] = given(RANK, i);
  for (long i = 0; i < n; i++) recv[i] = RANK == 0 ? given(0, i) : -1;
}

static void check(int operation, const double* recv, int n) {
  for (int r = 0; r < RANKS; r++)
    for (long i = 0; i < n; i++) {
      double wanted = given(r, operation == ALLTOALL_OF ? RANK * (long)n + i : i), got = recv[r * (long)n + i];
      if (operation == BCAST_OF || operation == ALLREDUCE_OF) wanted = given(0, i), got = recv[i];
      for (int q = 1; operation == ALLREDUCE_OF && q < RANKS; q++) wanted += given(q, i);
      if (operation != BARRIER_OF && got != wanted) {
        fprintf(stderr, "rank %d: %s of %d doubles: element %ld is %g, and should be %g\n", RANK,
                operation_names[operation], n, i, got, wanted);
        exit(1);
      }
    }
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* The median of some batches, each long enough for the clock. */
static double seconds(int operation, double* send, double* recv, int n, double budget) {
  enum { BATCHES = 7 };
  double batch[BATCHES];
  long repetitions = 1 + (long)(budget / BATCHES / (2e-6 + n * 8.0 * RANKS / 4e9));
  for (int b = 0; b < BATCHES; b++) {
    BARRIER();
    const double start = now();
    for (long k = 0; k < repetitions; k++) operate(operation, send, recv, n);
    batch[b] = (now() - start) / (double)repetitions;
  }
  qsort(batch, BATCHES, sizeof batch[0], by_value);
  return batch[BATCHES / 2];
}

int main(int argc, char** argv) {
  START(argc, argv);
  const double budget = argc > 1 ? atof(argv[1]) : 0.1;
  const int most = argc > 2 ? atoi(argv[2]) : 1 << 20;
  double* const send = BUFFER((size_t)most * sizeof(double) * (size_t)RANKS);
  double* const recv = BUFFER((size_t)most * sizeof(double) * (size_t)RANKS);
  memset(recv, 0, (size_t)most * sizeof(double) * (size_t)RANKS);
  static json_line line;
  char name[64];
  for (int operation = 0; operation < OPERATIONS; operation++)
    for (int n = 1; n <= most; n *= 2) {
      fill(operation, send, recv, n);
      BARRIER();
      operate(operation, send, recv, n);
      check(operation, recv, n);
      BARRIER();
      const double time = seconds(operation, send, recv, n, budget);
      snprintf(name, sizeof name, "%s_%d", operation_names[operation], 8 * n);
      json_add(&line, name, time);
      if (operation == BARRIER_OF) break;
    }
  /* What copying the same bytes costs, this rank alone among all that copy. */
  for (int n = 1 << 10; n <= most; n *= 2) {
    BARRIER();
    const double start = now();
    const int repetitions = 1 + (int)(budget / (n * 8.0 * RANKS / 8e9));
    for (int k = 0; k < repetitions; k++) {
      memcpy(recv, send, (size_t)n * sizeof(double) * (size_t)RANKS);
      __asm__ volatile("" ::: "memory");
    }
    snprintf(name, sizeof name, "memcpy_%d", 8 * n);
    json_add(&line, name, (now() - start) / repetitions);
  }
  if (RANK == 0) json_print(&line);
  STOP;
  return 0;
}

#endif
