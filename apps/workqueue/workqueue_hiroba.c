/* A tree is searched, by ranks that share a queue: a list in shared memory, under a lock, of chunks from the heap. */
#include "../common/shared.h"
#include "worker.h"

enum { LOCK = 0 };

typedef struct variant {
  workqueue common;
  queue* queue;
} variant;

static void lock(void) { sms_lock(LOCK); }
static void unlock(void) { sms_unlock(LOCK); }
static void* allocate(size_t bytes) { return sms_malloc(bytes); }
static void release(void* memory) { sms_mfree(memory); }

static void steps(void* of, int from, int to) {
  variant* const v = of;
  workqueue* const w = &v->common;
  const parts ranks = {sms_nprocs, sms_barrier, NULL};
  const sharing with = {ranks, lock, unlock, allocate, release, sms_atomic_load, sms_atomic_store};
  for (int step = from; step < to; step++) {
    w->found = (tree_count){0};
    worker_search(&with, v->queue, sms_rank, w, &w->run.split, 0, &w->found);
  }
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  variant v;
  team ranks = shared_team();
  ranks.program = "workqueue_hiroba";
  workqueue_begin(&v.common, ranks, 1, argc, argv);
  v.queue = sms_alloc(sizeof *v.queue, 1, 0);
  return workqueue_run(&v.common, steps);
}
