/* A tree is searched, with OpenMP: the threads share a queue under a lock. */
#include <omp.h>
#include <stdlib.h>

#include "worker.h"

static omp_lock_t queue_lock;
static void lock(void) { omp_set_lock(&queue_lock); }
static void unlock(void) { omp_unset_lock(&queue_lock); }

static void* allocate(size_t bytes) {
  void* const memory = malloc(bytes);
  if (memory == NULL) abort();
  return memory;
}

static int64_t load(const int64_t* word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }
static void store(int64_t* word, int64_t value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }

static void steps(void* of, int from, int to) {
  workqueue* const w = of;
  const sharing with = {parts_threads(w->run.threads), lock, unlock, allocate, free, load, store};
  static queue queue;
  for (int step = from; step < to; step++) {
    w->found = (tree_count){0};
#pragma omp parallel num_threads(w->run.threads)
    {
      tree_count found = {0};
      worker_search(&with, &queue, omp_get_thread_num(), w, &w->run.split, omp_get_thread_num(), &found);
#pragma omp critical
      tree_add(&w->found, &found);
    }
  }
}

int main(int argc, char** argv) {
  workqueue w;
  workqueue_begin(&w, (team){.count = 1, .program = "workqueue_omp"}, omp_get_max_threads(), argc, argv);
  omp_init_lock(&queue_lock);
  const int status = workqueue_run(&w, steps);
  omp_destroy_lock(&queue_lock);
  return status;
}
