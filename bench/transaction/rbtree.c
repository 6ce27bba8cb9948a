/* A set as a red-black tree that threads search and change: rbtree SIZE RANGE UPDATES THREADS OPERATIONS. The tree is
 * that of the application, and checked at the end. */
#include "work.h"

#include "../../apps/rbtree/set.h"

typedef struct worker {
  int64_t last, more; /* the key that it has inserted and not yet removed, or -1; insertions less removals */
  char line[112];
} worker;

typedef struct bench {
  int range, updates, operations;
  set set;
  worker workers[256];
} bench;

static bool has(bench* b, int64_t key) {
  bool done = false; /* each attempt sets it */
  ATOMIC { done = set_has(CRITICAL_TRANSACTIONS, &b->set, key); }
  return done;
}
static bool insert(bench* b, int64_t key) {
  bool done = false; /* each attempt sets it */
  ATOMIC { done = set_insert(CRITICAL_TRANSACTIONS, &b->set, key); }
  return done;
}
static bool erase(bench* b, int64_t key) {
  bool done = false; /* each attempt sets it */
  ATOMIC { done = set_remove(CRITICAL_TRANSACTIONS, &b->set, key); }
  return done;
}

static void work(void* of, int thread) {
  bench* const b = of;
  uint64_t random = critical_seed(1, 1 + thread);
  worker w = {-1, 0, {0}};
  for (int i = 0; i < b->operations; i++) {
    if (critical_random(&random, 100) >= b->updates) {
      has(b, critical_random(&random, b->range));
    } else if (w.last >= 0) {
      w.more -= erase(b, w.last);
      w.last = -1;
    } else {
      const int64_t key = critical_random(&random, b->range);
      if (insert(b, key)) w.last = key, w.more++;
    }
  }
  b->workers[thread] = w;
}

int main(int argc, char** argv) {
  (void)argc;
  static bench b;
  const int size = number(argv, 1), threads = number(argv, 4);
  b.range = number(argv, 2), b.updates = number(argv, 3), b.operations = number(argv, 5);
  contestant_begin();
  uint64_t random = critical_seed(1, 0);
  for (int n = 0; n < size;) n += set_insert(CRITICAL_NOTHING, &b.set, critical_random(&random, b.range));
  const double seconds = in_threads(threads, work, &b);
  int64_t at_end = 0, expected = size;
  for (int t = 0; t < threads; t++) expected += b.workers[t].more;
  const char* const wrong = set_check(&b.set, &at_end);
  if (wrong != NULL || at_end != expected) {
    fprintf(stderr, "the tree is wrong: %s; %ld elements, not %ld\n", wrong == NULL ? "" : wrong, (long)at_end,
            (long)expected);
    return 3;
  }
  report(seconds, (double)b.operations * threads);
  return 0;
}
