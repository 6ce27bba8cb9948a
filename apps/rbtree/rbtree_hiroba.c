/* A set in shared memory, as a red-black tree: searches, insertions and removals by all threads of all ranks. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/bits.h"
#include "../common/options.h"
#include "set.h"

typedef struct worker { /* a thread */
  uint64_t random;
  int64_t last;        /* the key that it has inserted and not yet removed; -1: none */
  int64_t found, more; /* searches that found their key; insertions less removals */
} worker;

typedef struct rbtree {
  tiled run;
  const char* with_name;
  critical with;
  int operations, range, updates, seed;
  set* set;
  worker* workers;
} rbtree;

static const option options[] = {
    {"--size", "N", "elements at first (default 256)", OPTION_NUMBER, offsetof(rbtree, run) + offsetof(tiled, size)},
    {"--range", "N", "keys are from 0 to N-1 (default: twice the size)", OPTION_NUMBER, offsetof(rbtree, range)},
    {"--with", "WAY", "transactions (default), locks, one-lock, nothing", OPTION_TEXT, offsetof(rbtree, with_name)},
    {"--operations", "N", "of each thread in a step (default 10000)", OPTION_NUMBER, offsetof(rbtree, operations)},
    {"--updates", "PERCENT", "of the operations are insertions and removals (default 20)", OPTION_COUNT,
     offsetof(rbtree, updates)},
    {"--seed", "K", "of the operations (default 1)", OPTION_COUNT, offsetof(rbtree, seed)},
    TILED_OPTIONS(rbtree, run),
};
enum { OPTIONS = sizeof options / sizeof options[0], LOCK = 0 };

/* ---- operations -------------------------------------------------------------------------------------------------- */

typedef bool operation(critical with, set* s, int64_t key);

static bool in_transaction(set* s, operation* what, int64_t key) {
  volatile bool done = false; /* set by each attempt */
  HIROBA_ATOMIC { done = what(CRITICAL_TRANSACTIONS, s, key); }
  return done;
}

static bool operate(const rbtree* r, operation* what, int64_t key) {
  if (r->with == CRITICAL_TRANSACTIONS) return in_transaction(r->set, what, key);
  const bool lock = r->with != CRITICAL_NOTHING, shared = r->with == CRITICAL_LOCKS && what == set_has;
  if (shared) sms_lock_shared(LOCK);
  else if (lock) sms_lock(LOCK);
  const bool done = what(r->with, r->set, key);
  if (shared) sms_unlock_shared(LOCK);
  else if (lock) sms_unlock(LOCK);
  return done;
}

/* Insertions and removals alternate, so that the size stays. */
static void update(const rbtree* r, worker* w) {
  if (w->last < 0) {
    const int64_t key = critical_random(&w->random, r->range);
    if (!operate(r, set_insert, key)) return;
    w->more++;
    w->last = key;
  } else {
    w->more -= operate(r, set_remove, w->last);
    w->last = -1;
  }
}

static void work(const rbtree* r, worker* w) {
  for (int i = 0; i < r->operations; i++) {
    if (critical_random(&w->random, 100) < r->updates) update(r, w);
    else w->found += operate(r, set_has, critical_random(&w->random, r->range));
  }
}

static void steps(void* of, int from, int to) {
  const rbtree* const r = of;
  for (int step = from; step < to; step++) {
#pragma omp parallel num_threads(r->run.threads)
    {
      worker own = r->workers[omp_get_thread_num()]; /* on a line of its own while it works */
      work(r, &own);
      r->workers[omp_get_thread_num()] = own;
    }
  }
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static void read_options(rbtree* r, int argc, char** argv) {
  *r = (rbtree){.with_name = "transactions", .operations = 10000, .updates = 20, .seed = 1};
  r->run.size = 256, r->run.steps = 10;
  critical_read(&r->run, "rbtree_hiroba", options, OPTIONS, r, argc, argv,
                "a red-black tree in shared memory is searched and changed by all threads",
                "  hirobarun -n 2 rbtree_hiroba --verify\n  hirobarun -n 2 --nodes 2 rbtree_hiroba --updates 0\n");
  const team team = r->run.team;
  if (r->range == 0) r->range = 2 * r->run.size;
  r->with = critical_way(&team, r->run.threads, r->with_name);
  team_agree(&team, r->updates <= 100, TEAM_BAD_INPUT, "--updates %d is more than 100 percent", r->updates);
  team_agree(&team, r->run.size <= r->range, TEAM_BAD_INPUT, "--size %d is more than the %d keys of --range",
             r->run.size, r->range);
  r->run.run.unit = "operation";
  r->run.run.work = (double)r->operations * r->run.threads * team.count;
}

static void begin(rbtree* r) {
  const team* const team = &r->run.team;
  r->workers = malloc((size_t)r->run.threads * sizeof *r->workers);
  team_agree(team, r->workers != NULL, TEAM_BAD_INPUT, "no memory for %d threads", r->run.threads);
  for (int t = 0; t < r->run.threads; t++)
    r->workers[t] = (worker){critical_seed(r->seed, 1 + team->rank * r->run.threads + t), -1, 0, 0};
  r->set = shared_rows(team, 1, 1, sizeof *r->set, "the tree");
  uint64_t random = critical_seed(r->seed, 0);
  for (int n = 0; team->rank == 0 && n < r->run.size;)
    n += set_insert(CRITICAL_NOTHING, r->set, critical_random(&random, r->range));
  sms_barrier();
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  static rbtree r;
  static const char* const categories[] = {NULL};
  read_options(&r, argc, argv);
  begin(&r);
  if (!tiled_run(&r.run, categories, steps, &r)) return tiled_stopped(&r.run);
  sms_barrier();
  int64_t more = 0, found = 0, size = 0;
  for (int t = 0; t < r.run.threads; t++) more += r.workers[t].more, found += r.workers[t].found;
  const int64_t expected = r.run.size + sms_reduce_int64(more, SMS_SUM);
  const char* const wrong = set_check(r.set, &size);
  team_agree(&r.run.team, wrong == NULL, TEAM_WRONG, "the tree is wrong: %s", wrong);
  tiled_figure figures[CRITICAL_FIGURES + 2] = {{"found", (double)sms_reduce_int64(found, SMS_SUM)},
                                                {"size_at_the_end", (double)size}};
  critical_figures(figures + 2);
  tiled_answer answer = {.limit = 0, .name = "elements too many or too few", .more = figures};
  answer.error = fabs((double)(size - expected));
  answer.bits = bits_of(0, &size, sizeof size);
  free(r.workers);
  return tiled_finish(&r.run, &answer);
}
