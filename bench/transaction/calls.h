/* Contestant: transactions by the calls of transaction.h. */
#ifndef BENCH_TRANSACTION_CALLS_H
#define BENCH_TRANSACTION_CALLS_H

#include <hiroba/transaction.h>

#include "../../apps/common/critical_calls.h"

#define CRITICAL_FUNCTION
#define ATOMIC HIROBA_ATOMIC

static inline void* critical_malloc(critical with, size_t bytes) {
  return with == CRITICAL_TRANSACTIONS ? hiroba_tx_malloc(bytes) : malloc(bytes);
}
#define critical_free(with, object) hiroba_tx_free(object)

static inline void contestant_begin(void) {}
static inline void contestant_thread_begin(void) {}
static inline void contestant_thread_end(void) {}
static inline void contestant_figures(json_line* line) {
  hiroba_tx_statistics s;
  hiroba_tx_stats(&s);
  json_add(line, "aborts", (double)s.aborts / (double)s.commits);
}

#endif
