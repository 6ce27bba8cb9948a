/* split.h: what the threads of an application spend their time on, by named categories, averaged over all threads of
 * all ranks, as the A64FX task paper shows it (figures 9, 12 and 15). What belongs to no category is "others": the
 * elapsed time minus the rest, which is waiting, creating tasks and synchronising.
 *
 * A thread adds to its own cache line only, so split_add takes no lock; a reading of the clock is all that it costs.
 * Collective: split_finish. For C and C++. */
#ifndef APPS_COMMON_SPLIT_H
#define APPS_COMMON_SPLIT_H

#include <stdio.h>

#include "team.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SPLIT_CATEGORIES = 8, SPLIT_OTHERS = SPLIT_CATEGORIES };

typedef struct split_line {
  double seconds[SPLIT_CATEGORIES];
} __attribute__((aligned(64))) split_line;

typedef struct split {
  const char* const* names; /* of the categories, at most SPLIT_CATEGORIES, then NULL */
  int threads;
  split_line* of;                       /* one line for each thread */
  double seconds[SPLIT_CATEGORIES + 1]; /* after split_finish: the average; SPLIT_OTHERS last */
  double elapsed;
} split;

/* `names` must live as long as the split. Ends the program if there is no memory. split_close frees it. */
void split_open(split* split, const team* team, const char* const names[], int threads);
void split_close(split* split);

/* Forgets what was added, such as during trials. */
void split_reset(split* split);

/* Adds the time since `since`, a reading of team_now or the result of an earlier split_add, to a category of thread
 * `thread`. Returns the time now, at which the next category begins. */
static inline double split_add(split* split, int thread, int category, double since) {
  const double now = team_now();
  split->of[thread].seconds[category] += now - since;
  return now;
}

/* Computes the averages. `elapsed` is the time of the whole run, in which all threads took part. */
void split_finish(split* split, const team* team, double elapsed);

/* "calc 91.2 %, comm 3.1 %, others 5.7 %", without an end of line; and {"calc": seconds, ..., "others": seconds}. */
void split_print(const split* split, FILE* to);
void split_json(const split* split, FILE* to);

#ifdef __cplusplus
}
#endif

#endif
