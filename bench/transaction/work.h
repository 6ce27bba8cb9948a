/* work.h: what the programs of this benchmark share: threads that do operations in transactions of one contestant, and
 * the line of JSON. It takes the place of apps/common/critical.h for code of applications, and is included before that.
 *
 * The compiler's option -DCONTESTANT names the contestant's header, which defines critical_load and the like, and
 *   ATOMIC { ... }              a transaction
 *   contestant_begin() ...      what begins and ends the program's and each thread's use of transactions
 *   contestant_figures(line)    what it counts */
#ifndef BENCH_TRANSACTION_WORK_H
#define BENCH_TRANSACTION_WORK_H

#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../apps/common/critical_random.h"
#include "../json.h"

#define APPS_COMMON_CRITICAL_H
typedef enum { CRITICAL_TRANSACTIONS, CRITICAL_NOTHING } critical;
#include CONTESTANT

static inline int number(char** argv, int at) {
  if (argv[at] != NULL) return (int)strtol(argv[at], NULL, 10);
  fprintf(stderr, "%s: argument %d, a number, is not there\n", argv[0], at);
  exit(2);
}

/* Calls work(of, thread) in each of some threads; returns seconds. */
static inline double in_threads(int threads, void (*work)(void* of, int thread), void* of) {
  double begun = 0;
#pragma omp parallel num_threads(threads)
  {
    contestant_thread_begin();
#pragma omp barrier
#pragma omp single
    begun = omp_get_wtime();
    work(of, omp_get_thread_num());
#pragma omp barrier
    contestant_thread_end();
  }
  return omp_get_wtime() - begun;
}

static inline void report(double seconds, double operations) {
  json_line line = {""};
  json_add(&line, "seconds", seconds);
  json_add(&line, "rate", operations / seconds);
  contestant_figures(&line);
  json_print(&line);
}

#endif
