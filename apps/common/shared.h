/* shared.h: the team of a variant on shared arrays (sms.h), and what the library has counted in it. Values and small
 * functions, for such variants only: the harness itself knows no library. */
#ifndef APPS_COMMON_SHARED_H
#define APPS_COMMON_SHARED_H

#include <sms.h>

#include "run.h"

static inline double shared_max(double mine) { return sms_reduce_double(mine, SMS_MAX); }
static inline double shared_sum(double mine) { return sms_reduce_double(mine, SMS_SUM); }
static inline void shared_leave(void) { sms_shutdown(); }

/* After sms_startup. */
static inline team shared_team(void) {
  team out = {sms_rank, sms_nprocs, shared_max, shared_sum, shared_leave, NULL};
  return out;
}

/* Shared memory has just been allocated, and this rank has written what it has of it, before a clock runs: Hiroba makes
 * huge pages of memory that is used, in the first two barriers after it has been allocated. Collective. */
static inline void shared_written(void) {
  sms_barrier();
  sms_barrier();
}

static inline int64_t shared_total(uint64_t mine) { return sms_reduce_int64((int64_t)mine, SMS_SUM); }

/* Of all ranks, ended by a NULL name. Collective. */
enum { SHARED_COUNTERS = 9 };
static inline void shared_counters(counter out[SHARED_COUNTERS]) {
  sms_statistics mine;
  sms_stats(NULL, &mine);
  const counter counters[SHARED_COUNTERS] = {{"nodes", sms_nnodes},
                                             {"read_faults", shared_total(mine.read_faults)},
                                             {"pages_fetched", shared_total(mine.pages_fetched)},
                                             {"pages_preloaded", shared_total(mine.pages_preloaded)},
                                             {"bytes_fetched", shared_total(mine.bytes_fetched)},
                                             {"pages_diffed", shared_total(mine.pages_diffed)},
                                             {"bytes_sent", shared_total(mine.bytes_sent)},
                                             {"messages_sent", shared_total(mine.messages_sent)},
                                             {NULL, 0}};
  for (int i = 0; i < SHARED_COUNTERS; i++) out[i] = counters[i];
}

#endif
