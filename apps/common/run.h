/* run.h: a run of an application while it computes: the clock, timers of phases, progress with the time left, and
 * Ctrl-C, after which all ranks stop at the same step.
 *
 * Collective: run_start, run_step, run_stop, run_phase_seconds. The ranks talk in run_step only every few tenths of a
 * second, at steps that they agree on, of which `next_look` is the next. */
#ifndef APPS_COMMON_RUN_H
#define APPS_COMMON_RUN_H

#include "team.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RUN_PHASES = 8 };

/* What a variant counts; a list of them ends with a NULL name. */
typedef struct counter {
  const char* name;
  int64_t value;
} counter;

typedef struct run {
  const team* team;
  int first, last;   /* the step at the start, and the one to reach */
  bool progress;     /* --progress; true on a terminal */
  double look_every; /* seconds from one talk of the ranks to the next (default 0.25) */
  const char* unit;  /* what progress and report count ("cells"), `work` of them a step */
  double work;
  double phase[RUN_PHASES]; /* seconds of this rank, which the application adds up */
  double started, seconds;
  int stopped;          /* the step after which the user ended it; 0: never */
  int next_look, looks; /* the step at which the ranks talk next, and how often they have */
} run;

/* The last rows of a table of options (options.h), for a struct `type` with members `run`, `json` and `help`. */
#define RUN_OPTIONS(type)                                                                                              \
  {"--progress", NULL, "show progress on standard error even if that is not a terminal", OPTION_FLAG,                  \
   offsetof(type, run) + offsetof(run, progress)},                                                                     \
      {"--json", NULL, "print the report as one line of JSON, and nothing else", OPTION_FLAG, offsetof(type, json)}, { \
    "--help", NULL, "print this", OPTION_FLAG, offsetof(type, help)                                                    \
  }

/* Starts the clock when all ranks are there. From here on SIGINT and SIGTERM end the run at a step. */
void run_start(run* run, const team* team, int first, int last);

/* After `step` steps. `state` is a number to show and watch about once a second, such as the largest pressure of this
 * rank, called `name`; NULL: none. If it is not finite, the program ends. Returns true if the user wants it to end. */
bool run_step(run* run, int step, double (*state)(const void* of), const void* of, const char* name);

/* After a run that the user has ended: says how to go on from `checkpoint`, or that nothing is kept (NULL). Returns the
 * exit status. */
int run_end_stopped(const run* run, const char* checkpoint);

/* Stops the clock, after the last step: the time of the slowest rank. */
void run_stop(run* run);

/* Seconds of a phase: on the average of the ranks. */
double run_phase_seconds(const run* run, int phase);

#ifdef __cplusplus
}
#endif

#endif
