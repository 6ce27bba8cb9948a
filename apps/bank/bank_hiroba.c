/* Accounts in shared memory: transfers between two of them, and now and then the sum of all, which never changes. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/bits.h"
#include "../common/critical.h"
#include "../common/options.h"

enum { GROUPS = 16, START = 1000 }; /* locks, each for the accounts of a group; what is in an account at first */

typedef struct bank {
  tiled run;
  const char* with_name;
  critical with;
  int operations, read_all, seed;
  int64_t* account;
  int64_t wrong;    /* sums that this rank found to be others than the first one */
  uint64_t* random; /* of each thread */
} bank;

static const option options[] = {
    {"--size", "N", "accounts (default 1024)", OPTION_NUMBER, offsetof(bank, run) + offsetof(tiled, size)},
    {"--with", "WAY", "transactions (default), locks, one-lock, nothing", OPTION_TEXT, offsetof(bank, with_name)},
    {"--operations", "N", "of each thread in a step (default 1000)", OPTION_NUMBER, offsetof(bank, operations)},
    {"--read-all", "PERCENT", "of the operations are sums of all accounts (default 20)", OPTION_COUNT,
     offsetof(bank, read_all)},
    {"--seed", "K", "of the operations (default 1)", OPTION_COUNT, offsetof(bank, seed)},
    TILED_OPTIONS(bank, run),
};
enum { OPTIONS = sizeof options / sizeof options[0] };

/* ---- operations -------------------------------------------------------------------------------------------------- */

static void move(const bank* b, int64_t from, int64_t to, int64_t amount) {
  critical_store(b->with, &b->account[from], critical_load(b->with, &b->account[from]) - amount);
  critical_store(b->with, &b->account[to], critical_load(b->with, &b->account[to]) + amount);
}

static int64_t add_all(const bank* b) {
  int64_t sum = 0;
  for (int i = 0; i < b->run.size; i++) sum += critical_load(b->with, &b->account[i]);
  return sum;
}

static void transfer(const bank* b, int64_t from, int64_t to, int64_t amount) {
  const int one = (int)(from % GROUPS), other = (int)(to % GROUPS);
  switch (b->with) {
    case CRITICAL_TRANSACTIONS: HIROBA_ATOMIC { move(b, from, to, amount);
      }
      return;
    case CRITICAL_LOCKS: /* in the order of their numbers, so that nobody waits for one who waits */
      sms_lock(smaller(one, other));
      if (one != other) sms_lock(larger(one, other));
      move(b, from, to, amount);
      if (one != other) sms_unlock(larger(one, other));
      sms_unlock(smaller(one, other));
      return;
    case CRITICAL_ONE_LOCK:
      sms_lock(0);
      move(b, from, to, amount);
      sms_unlock(0);
      return;
    default: move(b, from, to, amount);
  }
}

static int64_t read_all(const bank* b) {
  volatile int64_t sum = 0; /* set by each attempt */
  const int locks = b->with == CRITICAL_LOCKS ? GROUPS : b->with == CRITICAL_ONE_LOCK ? 1 : 0;
  if (b->with == CRITICAL_TRANSACTIONS) {
    HIROBA_ATOMIC { sum = add_all(b); }
    return sum;
  }
  for (int i = 0; i < locks; i++) sms_lock_shared(i);
  sum = add_all(b);
  for (int i = locks; i-- > 0;) sms_unlock_shared(i);
  return sum;
}

static int64_t operate(const bank* b, uint64_t* random) {
  int64_t wrong = 0;
  for (int i = 0; i < b->operations; i++) {
    if (critical_random(random, 100) < b->read_all) {
      wrong += read_all(b) != (int64_t)START * b->run.size;
      continue;
    }
    const int64_t from = critical_random(random, b->run.size), to = critical_random(random, b->run.size);
    transfer(b, from, to, 1 + critical_random(random, 100));
  }
  return wrong;
}

static void steps(void* of, int from, int to) {
  bank* const b = of;
  for (int step = from; step < to; step++) {
    int64_t wrong = 0;
#pragma omp parallel num_threads(b->run.threads) reduction(+ : wrong)
    wrong += operate(b, &b->random[omp_get_thread_num()]);
    b->wrong += wrong;
  }
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static void begin(bank* b, int argc, char** argv) {
  *b = (bank){.with_name = "transactions", .operations = 1000, .read_all = 20, .seed = 1};
  b->run.size = 1024, b->run.steps = 10;
  critical_read(&b->run, "bank_hiroba", options, OPTIONS, b, argc, argv,
                "transfers between accounts in shared memory, and sums of all",
                "  hirobarun -n 2 bank_hiroba --verify\n  hirobarun -n 2 --nodes 2 bank_hiroba --with locks\n");
  const team team = b->run.team;
  b->with = critical_way(&team, b->run.threads, b->with_name);
  team_agree(&team, b->read_all <= 100, TEAM_BAD_INPUT, "--read-all %d is more than 100 percent", b->read_all);
  b->run.run.unit = "operation";
  b->run.run.work = (double)b->operations * b->run.threads * team.count;
  b->random = malloc((size_t)b->run.threads * sizeof *b->random);
  team_agree(&team, b->random != NULL, TEAM_BAD_INPUT, "no memory for %d threads", b->run.threads);
  for (int t = 0; t < b->run.threads; t++) b->random[t] = critical_seed(b->seed, team.rank * b->run.threads + t);
  b->account = shared_rows(&team, b->run.size, 1, sizeof *b->account, "the accounts");
  for (int i = 0; team.rank == 0 && i < b->run.size; i++) b->account[i] = START;
  sms_barrier();
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  static bank b;
  static const char* const categories[] = {NULL};
  begin(&b, argc, argv);
  if (!tiled_run(&b.run, categories, steps, &b)) return tiled_stopped(&b.run);
  sms_barrier();
  b.with = CRITICAL_NOTHING; /* nobody else works on the accounts now */
  const int64_t rest = add_all(&b) - (int64_t)START * b.run.size;
  tiled_figure figures[CRITICAL_FIGURES];
  critical_figures(figures);
  tiled_answer answer = {.limit = 0, .name = "sums that are wrong, and money too much", .more = figures};
  for (int i = 0; sms_rank == 0 && i < b.run.size; i++) answer.bits += bits_of((uint64_t)i, &b.account[i], 8);
  answer.error = (double)shared_total((uint64_t)b.wrong) + fabs((double)rest);
  free(b.random);
  return tiled_finish(&b.run, &answer);
}
