/* Runs the litmus tests of the memory model.
 *   litmus [--rounds N] [--test NAME]
 * All by default; those that need more ranks than there are, are left out and named. Slow ones do a part of the
 * rounds, fast ones more.
 */
#include "litmus.h"

typedef struct test {
  const char* name;
  void (*run)(int rounds);
  int ranks; /* at least */
  int share; /* of the rounds, in percent */
} test;

static const test tests[] = {
    {"mp_lock", mp_lock, 2, 100},
    {"mp_flag", mp_flag, 2, 100},
    {"mp_barrier", mp_barrier, 1, 100},
    {"mp_drop", mp_drop, 1, 100},
    {"mp_all", mp_all, 1, 100},
    {"mp_team", mp_team, 1, 100},
    {"sb_lock", sb_lock, 2, 100},
    {"sb_atomic", sb_atomic, 2, 500},
    {"iriw_lock", iriw_lock, 4, 100},
    {"iriw_atomic", iriw_atomic, 4, 500},
    {"iriw_barrier", iriw_barrier, 2, 100},
    {"coherence_lock", coherence_lock, 1, 100},
    {"coherence_atomic", coherence_atomic, 1, 2000},
    {"atomic_then_read", atomic_then_read, 1, 25},
    {"chain_lock", chain_lock, 2, 25},
    {"chain_flag", chain_flag, 2, 25},
    {"chain_mixed", chain_mixed, 2, 25},
    {"shared_lock", shared_lock, 1, 25},
    {"shared_release", shared_release, 2, 25},
    {"condition_queue", condition_queue, 1, 25},
    {"condition_broadcast", condition_broadcast, 1, 25},
    {"once", once, 1, 10},
    {"chain_all", chain_all, 1, 25},
    {"log_overflow", log_overflow, 2, 1},
    {"closed_copies", closed_copies, 2, 5},
    {"share_barrier", share_barrier, 1, 25},
    {"share_drop", share_drop, 1, 25},
    {"share_halves", share_halves, 1, 25},
    {"own_between", own_between, 1, 25},
    {"whole_runs", whole_runs, 1, 5},
    {"share_lock", share_lock, 1, 10},
    {"share_churn", share_churn, 1, 10},
    {"blind_write", blind_write, 1, 25},
    {"toggle", toggle, 1, 100},
    {"counter_lock", counter_lock, 1, 25},
    {"counter_trylock", counter_trylock, 1, 10},
    {"counter_swap", counter_swap, 1, 10},
    {"counter_busy", counter_busy, 1, 5},
    {"evict", evict, 1, 1},
    {"thread_release", thread_release, 1, 5},
    {"acquire_beside", acquire_beside, 2, 5},
    {"stale_eviction", stale_eviction, 2, 25},
    {"huge_pages", huge_pages, 1, 3},
    {"preload_stale", preload_stale, 1, 25},
    {"renew", renew, 1, 25},
};

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  const char* only = option_text(argc, argv, "--test", "");
  const long most = option_number(argc, argv, "--rounds", 1000);
  const int rounds = (int)(*only == '\0' ? tries(most) : most);
  sms_startup(&argc, &argv);
  int found = 0;
  for (size_t t = 0; t < sizeof tests / sizeof tests[0]; ++t) {
    if (*only != '\0' && strcmp(only, tests[t].name) != 0) continue;
    ++found;
    const int mine = rounds * tests[t].share / 100 > 0 ? rounds * tests[t].share / 100 : 1;
    const double start = seconds();
    if (sms_nprocs >= tests[t].ranks) tests[t].run(mine);
    sms_barrier();
    if (sms_rank != 0) continue;
    if (sms_nprocs < tests[t].ranks) printf("%-18s left out: needs %d ranks\n", tests[t].name, tests[t].ranks);
    else printf("%-18s %6d rounds %8.3f s\n", tests[t].name, mine, seconds() - start);
    fflush(stdout);
  }
  if (found == 0) fail("litmus: no test '%s'", only);
  sms_shutdown();
  return 0;
}
