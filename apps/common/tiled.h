/* tiled.h: what applications have in common that compute step by step over tiles, in variants with and without tasks:
 * options, the choice of the tile, the run, the report. Applications that have no tiles leave `tile` zero.
 *
 * A variant computes steps in chunks, so that tasks of one step can overlap with those of the next: within a chunk
 * nobody waits for all. Chunks end where the ranks talk (run.h). Collective: all functions. For C and C++. */
#ifndef APPS_COMMON_TILED_H
#define APPS_COMMON_TILED_H

#include "run.h"
#include "split.h"
#include "tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tiled {
  struct team team;
  struct run run; /* its unit and work, "LUP" for example, are set by the application */
  struct split split;
  int threads; /* of this rank */
  /* options */
  int size, steps;
  const char *tile_text, *json;
  bool verify, help;
  /* the tile, after tiled_choose */
  struct tile tile;
  const char* tile_from;
} tiled;

/* The rows of a table of options (options.h) for a struct `type` that has a tiled as its member `member`. */
#define TILED_OPTIONS(type, member)                                                                       \
  {"--steps", "T", "time steps", OPTION_NUMBER, offsetof(type, member) + offsetof(tiled, steps)},         \
      {"--verify", NULL, "check the answer; exit status 1 if it is wrong", OPTION_FLAG,                   \
       offsetof(type, member) + offsetof(tiled, verify)},                                                 \
      {"--json", "FILE", "write the report as one line of JSON (-: to standard output)", OPTION_TEXT,     \
       offsetof(type, member) + offsetof(tiled, json)},                                                   \
      {"--progress", NULL, "show progress on standard error even if that is not a terminal", OPTION_FLAG, \
       offsetof(type, member) + offsetof(tiled, run) + offsetof(run, progress)},                          \
  {                                                                                                       \
    "--help", NULL, "print this", OPTION_FLAG, offsetof(type, member) + offsetof(tiled, help)             \
  }

/* Computes the steps [from, to) of the application `of`, in all threads of this rank. */
typedef void (*tiled_steps)(void* of, int from, int to);

/* Reads --tile; `auto` tries the candidates with a few steps each, after which the application must set its start
 * again. `what`: see tiles.h. No tile is larger than `largest`. */
void tiled_choose(tiled* t, const char* what, int dimensions, int largest, const tile candidates[], int count,
                  tiled_steps steps, void* of);

/* Runs all steps, with the clock. Returns false if the user ended it. */
bool tiled_run(tiled* t, const char* const categories[], tiled_steps steps, void* of);

/* A number of an application in its report; a list of them ends with a NULL name. */
typedef struct tiled_figure {
  const char* name;
  double value;
} tiled_figure;

/* What verification found: `error` is compared with `limit`; NaN is wrong. */
typedef struct tiled_answer {
  double error, limit;
  const char* name;         /* of the error: "largest error" */
  uint64_t bits;            /* bits.h, of all ranks */
  const tiled_figure* more; /* NULL: none */
} tiled_answer;

/* Prints the report, as text and as JSON, and leaves the team: after tiled_run has returned true. Ends the program with
 * TEAM_WRONG if the answer is wrong; returns the exit status. */
int tiled_finish(tiled* t, const tiled_answer* answer);

/* After a run that the user has ended. Returns the exit status. */
int tiled_stopped(tiled* t);

#ifdef __cplusplus
}
#endif

#endif
