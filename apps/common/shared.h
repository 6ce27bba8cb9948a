/* shared.h: the team of a variant on shared arrays (sms.h), and what the library has counted in it. Values and small
 * functions, for such variants only: the harness itself knows no library. */
#ifndef APPS_COMMON_SHARED_H
#define APPS_COMMON_SHARED_H

#include <sms.h>
#include <string.h>

#include "memory.h"
#include "parts.h"
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

/* bench/homes defines it as 1: all that shared_rows gives is at home on the last rank at first, and parts wait in
 * barriers in which homes may migrate. */
#ifndef SHARED_MISPLACED
#define SHARED_MISPLACED 0
#endif

/* Shared memory of rows x columns elements of `bytes` bytes, zero, in rows that are divided among the ranks: equal
 * numbers of them, the last ones fewer. `what` needs too much, if the machine has less. Collective. */
static inline void* shared_rows(const team* team, int64_t rows, int64_t columns, size_t bytes, const char* what) {
  const int64_t parts = rows < team->count ? rows : team->count, share = (rows - 1) / parts + 1;
  const int64_t dim[] = {rows, columns, -1}, div[] = {SHARED_MISPLACED ? 1 : parts, 1, -1};
  const size_t row = (size_t)columns * bytes;
  memory_check(team, (double)share * (double)row, what);
  const int home = SHARED_MISPLACED ? team->count - 1 : 0;
  void* const out = sms_mapalloc_large(dim, div, bytes, home, team->count - home);
  const int64_t first = parts_first(rows, share, team->rank), end = parts_first(rows, share, team->rank + 1);
  memset((char*)out + (size_t)first * row, 0, (size_t)(end - first) * row);
  shared_written();
  return out;
}

/* The ranks, as parts of a program. They have to fetch all that others write. */
static inline parts shared_parts(void) {
  const parts out = {sms_nprocs, SHARED_MISPLACED ? sms_barrier : sms_sync_drop, sms_preload_bytes};
  return out;
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
