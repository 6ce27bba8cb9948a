/* taskgraph.h: the graphs of tasks of this benchmark, what a task does, and what a contestant has to implement.
 *
 * A graph is a list of tasks in the order of the sequential program. Each task reads cells and writes one; it folds the
 * values that it reads into the one that it writes, and then its body takes the time asked for. The dependences follow
 * from the cells, as in any program, so the cells after the sequential program are the answer that all must have.
 *
 * A contestant is one file with a `runtime` and a main that calls taskgraph(). Its `run` creates the tasks of a graph,
 * calls task_run for each in an order that respects the dependences, on as many threads as it was started with, and
 * returns after the last one. Nothing else is called by more than one thread at a time. contestants.py says how each is
 * compiled; a new one is its file and a line there. */
#ifndef TASKGRAPH_H
#define TASKGRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "../../apps/common/team.h"
#include "../spin.h"

/* As large as a cache line, so that no two cells share one. */
typedef struct cell {
  uint64_t value;
  uint64_t unused[7];
} cell;

typedef struct graph {
  const char* name;
  int tasks, cells;
  int* writes; /* per task, the cell that it writes */
  int* first;  /* where its reads begin in `reads`; tasks + 1 of them */
  int* reads;
  bool updates; /* tasks also read the cell that they write */
  bool free;    /* no task depends on another, and the runtime is not told of any cell */
  /* The same as edges: the tasks that each one has to wait for; and the tasks that wait for each one. */
  int *first_before, *before, *first_after, *after;
  /* Of the patterns of Task Bench: task t is in column t % width, at step t / width. 0: of no pattern. */
  int width;

  cell* value;
  int64_t spin;      /* rounds of the loop in a body */
  size_t stream;     /* bytes of memory that a body goes through */
  uint64_t* scratch; /* a share for each cell, where bodies stream */
  size_t bytes;      /* of the message by which a process gets a cell of another one; at least 8 */
} graph;

enum { SCRATCH_WORDS = 1 << 17 }; /* per cell; the 64 cells of a usual pattern have more than most caches */

typedef struct runtime {
  const char* name;
  team team; /* processes, where there are several; each has `threads` threads, and knows the whole graph */
  void (*start)(int threads);
  void (*prepare)(const graph* g); /* before the clock: tells the runtime of the cells. NULL: nothing to do */
  void (*run)(const graph* g);     /* creates all tasks, and returns when all have run */
  void (*record)(const graph* g);  /* before the clock: builds what `replay` runs; with it comes no `prepare` */
  void (*replay)(const graph* g);  /* NULL: it cannot run a graph again that it has built before */
  void (*release)(const graph* g); /* undoes `prepare` or `record`; NULL: nothing to do */
  void (*stop)(void);
  bool patterns_only;                     /* it has no way to run the other graphs */
  bool (*owns)(const graph* g, int cell); /* whether this process has its answer; NULL: every one */
} runtime;

/* The whole benchmark; returns the exit status. */
int taskgraph(int argc, char** argv, const runtime* r);

/* ---- graph.c: graphs by name ------------------------------------------------------------------------------------- */

extern const char graph_names[];

/* `width` columns of `steps` tasks; of cholesky, as many tiles in a row, and `steps` counts for nothing. 0: as many as
 * is usual. false: no such name. */
bool graph_make(graph* g, const char* name, int width, int steps);
void graph_reset(graph* g);            /* all cells as they are before the first task */
void graph_run_serial(const graph* g); /* the sequential program */
uint64_t graph_answer(const graph* g, bool (*owns)(const graph* g, int cell)); /* a sum over cells */
void graph_free(graph* g);

/* ---- a task ------------------------------------------------------------------------------------------------------ */

static inline uint64_t task_mix(uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  return x ^ (x >> 29);
}

/* The body of a cell that begins after `skipped` bodies: not where the last one was, whose data is in the cache. */
static inline void task_stream(const graph* g, int cell, size_t skipped) {
  uint64_t* const share = g->scratch + (size_t)cell * SCRATCH_WORDS;
  const size_t words = g->stream / sizeof *share;
  size_t at = skipped * words % SCRATCH_WORDS;
  for (size_t done = 0; done < words;) {
    const size_t piece = words - done < SCRATCH_WORDS - at ? words - done : SCRATCH_WORDS - at;
    for (size_t i = 0; i < piece; i++) share[at + i] = 3 * share[at + i] + 1;
    done += piece, at = 0;
  }
}

static inline void task_run(const graph* g, int t) {
  cell* const mine = &g->value[g->writes[t]];
  uint64_t x = (uint64_t)t + (g->updates ? mine->value : 0);
  for (int k = g->first[t]; k < g->first[t + 1]; k++) x = task_mix(x + g->value[g->reads[k]].value);
  if (g->spin > 0) spin(g->spin);
  if (g->stream > 0) task_stream(g, g->writes[t], (size_t)(t / g->cells));
  mine->value = task_mix(x);
}

#ifdef __cplusplus
}
#endif

#endif
