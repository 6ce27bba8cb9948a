/* worker.h: workers that share a queue in memory which all of them reach: threads, or ranks of a job. A program written
 * over this is the same for both.
 *
 * The queue is a list of chunks, which a worker allocates and another one frees; a lock protects it. Two words of it
 * are read without the lock: how many chunks workers wait for, and how many there are.
 *
 * worker_search blocks in the functions of `sharing`, and while there is no work. */
#ifndef WORKQUEUE_WORKER_H
#define WORKQUEUE_WORKER_H

#include <stddef.h>

#include "../common/parts.h"
#include "workqueue.h"

typedef struct sharing {
  struct parts parts; /* fetch is not used: what a lock protects comes with it */
  void (*lock)(void);
  void (*unlock)(void);
  void* (*allocate)(size_t bytes); /* shared memory, never NULL */
  void (*release)(void* memory);   /* that any worker has allocated */
  int64_t (*load)(const int64_t* word);
  void (*store)(int64_t* word, int64_t value);
} sharing;

typedef struct chunk {
  struct chunk* next;
  int count;
  node nodes[WORK_CHUNK];
} chunk;

typedef struct queue {
  /* by load and store only, and stored under the lock */
  int64_t wanted; /* workers that wait, less chunks that are there */
  int64_t ready;  /* chunks that are there; -1: the search is over */
  /* under the lock only */
  chunk* first;
  int chunks, waiting;
} queue;

/* Searches the tree once; called by all workers. Counts are added to `found`. */
void worker_search(const sharing* with, queue* queue, int worker, const workqueue* w, split* split, int thread,
                   tree_count* found);

#endif
