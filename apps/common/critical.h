/* critical.h: the ways in which an application makes its operations on shared memory atomic: option --with. Header
 * only, for variants on sms.h.
 *
 * critical_load and the like are used in such an operation. critical_read and critical_figures are collective.
 * bench/transaction has other ways for the same operations, and takes the place of this header then. */
#ifndef APPS_COMMON_CRITICAL_H
#define APPS_COMMON_CRITICAL_H

#include <omp.h>
#include <sms.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <transaction.h>

#include "critical_random.h"
#include "options.h"
#include "shared.h"
#include "tiled.h"

/* Declares a function that is called in critical sections, for compilers that have to know. */
#define CRITICAL_FUNCTION
/* CRITICAL_NOTHING is the sequential reference: one rank with one thread. */
typedef enum { CRITICAL_TRANSACTIONS, CRITICAL_LOCKS, CRITICAL_ONE_LOCK, CRITICAL_NOTHING, CRITICAL_WAYS } critical;
#include "critical_calls.h"

/* Reads the command line into the application's struct, of which `run` is part, with all threads unless it says others.
 * --help prints `about`, the options and `tries`, and ends the program. */
static inline void critical_read(tiled* run, const char* program, const option options[], int count, void* into,
                                 int argc, char** argv, const char* about, const char* tries) {
  run->team = shared_team(), run->team.program = program;
  run->threads = omp_get_max_threads();
  options_read(&run->team, options, count, into, argc, argv);
  if (!run->help) return;
  if (run->team.rank == 0) {
    printf("%s: %s\n\n", program, about);
    options_print(options, count);
    printf("\nTry\n%s", tries);
  }
  team_leave(&run->team);
  exit(0);
}

/* The value of option --with, after critical_read. */
static inline critical critical_way(const team* team, int threads, const char* name) {
  static const char* const names[CRITICAL_WAYS] = {"transactions", "locks", "one-lock", "nothing"};
  int way = 0;
  while (way < CRITICAL_WAYS && strcmp(names[way], name) != 0) way++;
  team_agree(team, way < CRITICAL_WAYS, TEAM_BAD_INPUT, "--with '%s' is not transactions, locks, one-lock or nothing",
             name);
  team_agree(team, way != CRITICAL_NOTHING || team->count * threads == 1, TEAM_BAD_INPUT,
             "--with nothing is for one rank with one thread, not for %d x %d", team->count, threads);
  return (critical)way;
}

static inline void* critical_malloc(critical with, size_t bytes) {
  return with == CRITICAL_TRANSACTIONS ? hiroba_tx_malloc(bytes) : sms_malloc(bytes);
}
static inline void critical_free(critical with, void* object) {
  if (with == CRITICAL_TRANSACTIONS) hiroba_tx_free(object);
  else sms_mfree(object);
}

/* The transactions of all ranks, ended by a NULL name. after_N: those that have committed after N aborts or more. */
enum { CRITICAL_COUNTS = 6, CRITICAL_BINS = 16, CRITICAL_FIGURES = CRITICAL_COUNTS + CRITICAL_BINS + 1 };
static inline void critical_figures(tiled_figure out[CRITICAL_FIGURES]) {
  static const char* const bins[CRITICAL_BINS] = {"after_0",    "after_1",    "after_2",    "after_4",
                                                  "after_8",    "after_16",   "after_32",   "after_64",
                                                  "after_128",  "after_256",  "after_512",  "after_1024",
                                                  "after_2048", "after_4096", "after_8192", "after_16384"};
  hiroba_tx_statistics mine;
  hiroba_tx_stats(&mine);
  const tiled_figure figures[CRITICAL_COUNTS] = {{"commits", (double)shared_total(mine.commits)},
                                                 {"read_only", (double)shared_total(mine.read_only)},
                                                 {"aborts", (double)shared_total(mine.aborts)},
                                                 {"irrevocable", (double)shared_total(mine.irrevocable)},
                                                 {"most_aborts", sms_reduce_double((double)mine.most_aborts, SMS_MAX)},
                                                 {"messages", (double)shared_total(mine.messages)}};
  memcpy(out, figures, sizeof figures);
  for (int i = 0; i < CRITICAL_BINS; i++)
    out[CRITICAL_COUNTS + i] = (tiled_figure){bins[i], (double)shared_total(mine.histogram[i])};
  out[CRITICAL_FIGURES - 1] = (tiled_figure){NULL, 0};
}

#endif
