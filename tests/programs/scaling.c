/* How many messages things cost, by the counters, against the model in docs/scaling.md. One rank per node, so that all
 * goes over the network; --silence 0, so that signs of life do not count. Prints a line of JSON. */
#include "programs.h"

enum { WORDS_IN_PAGE = 512, PAGES_EACH = 64, TIMES = 20 };

static uint64_t messages(void) {
  sms_statistics s;
  sms_stats(NULL, &s);
  return s.messages_sent;
}

static int64_t rounds_of(int nodes) {
  int64_t rounds = 0;
  for (int reach = 1; reach < nodes; reach *= 2) rounds++;
  return rounds;
}

static void expect(const char* what, int64_t measured, int64_t model) {
  if (measured != model)
    fail("scaling: %d ranks: %s took %ld messages, the model says %ld", sms_nprocs, what, measured, model);
  if (sms_rank == 0) printf("{\"ranks\": %d, \"what\": \"%s\", \"messages\": %ld}\n", sms_nprocs, what, (long)model);
}

/* Counting begins when all have looked at their counters, and ends when all are done: two exchanges, which are left
 * out. */
static uint64_t before;

static void begin(void) {
  sms_reduce_int64(0, SMS_SUM);
  before = messages();
  sms_reduce_int64(0, SMS_SUM);
}

static int64_t total(void) {
  sms_reduce_int64(0, SMS_SUM);
  const uint64_t after = messages();
  return sms_reduce_int64((int64_t)(after - before), SMS_SUM) - 2 * sms_nprocs * rounds_of(sms_nprocs);
}

/* Fails unless the step takes as many messages as the model says. A difference leaves in a message of its own if a
 * thread polls the network before the rest is ready, so a step that takes more is taken again, at most ten times.
 * `prepare` is not counted. */
static void expect_of_step(const char* what, void (*prepare)(int attempt), void (*step)(int attempt), int64_t model) {
  int64_t measured = model + 1;
  for (int attempt = 0; attempt < 10 && measured > model; attempt++) {
    if (prepare != NULL) prepare(attempt);
    begin();
    step(attempt);
    measured = total();
    if (measured > model + sms_nprocs) break;
  }
  expect(what, measured, model);
}

static double* written; /* another rank's, of which these steps send the difference */
static void write_word(int attempt) { *written += 1 + attempt; }
static void drop(int attempt) { (void)attempt, sms_sync_drop(); }
static void publish(int attempt) { (void)attempt, sms_sync(); }

/* Returns a lock that the next rank keeps, another one for each attempt. */
static int lock_of(int attempt) { return (sms_rank + 1) % sms_nprocs + attempt * sms_nprocs; }
static void use(int attempt) { sms_lock(lock_of(attempt)), sms_unlock(lock_of(attempt)); }
static void use_first(int attempt) { (void)attempt, use(0); }
static void share(int attempt) { sms_lock_shared(lock_of(attempt)), sms_unlock_shared(lock_of(attempt)); }

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const int64_t n = sms_nprocs, rounds = rounds_of(sms_nprocs), others = n > 1;
  double* data = sms_mapalloc((int[]){sms_nprocs * PAGES_EACH * WORDS_IN_PAGE, -1}, (int[]){sms_nprocs, -1},
                              sizeof *data, 0, sms_nprocs);
  double* last = data + (size_t)((sms_rank + sms_nprocs - 1) % sms_nprocs) * PAGES_EACH * WORDS_IN_PAGE;
  double* next = data + (size_t)((sms_rank + 1) % sms_nprocs) * PAGES_EACH * WORDS_IN_PAGE;

  begin();
  for (int i = 0; i < TIMES; i++) sms_sync_drop();
  expect("twenty barriers", total(), TIMES * n * rounds);

  begin();
  volatile double seen = next[0];
  expect("the first fault on a page", total(), 2 * n * others);
  begin();
  for (int p = 8; p < 56; p += 16) seen += next[p * WORDS_IN_PAGE];
  expect("three faults", total(), 6 * n * others);
  if (seen != 0) fail("scaling: memory was not zero");

  /* sms_sync_drop first tells the rank before this one; of two ranks that is the next one, too. */
  written = next;
  expect_of_step("a barrier with a difference for one home", write_word, drop, n * rounds + (n > 2 ? n : 0));
  written = last;
  expect_of_step("a barrier with a difference for whom it tells first", write_word, drop, n * rounds);
  /* The difference is sent and asked for in one message, and answered. */
  written = next;
  expect_of_step("publishing a difference for one home", write_word, publish, 2 * n * others);
  /* A flag of the next rank: what this rank has published goes there first, once. */
  int64_t* flags =
      sms_mapalloc((int[]){sms_nprocs * WORDS_IN_PAGE, -1}, (int[]){sms_nprocs, -1}, sizeof *flags, 0, sms_nprocs);
  int64_t* flag = &flags[(sms_rank + 1) % sms_nprocs * WORDS_IN_PAGE];
  last[1] = sms_rank + 1;
  sms_sync();
  begin();
  sms_fetch_add(flag, 1);
  expect("the first change of a flag after publishing something", total(), 6 * n * others);
  begin();
  sms_fetch_add(flag, 1);
  expect("another change of a flag", total(), 2 * n * others);
  begin();
  sms_sync();
  expect("what comes with a flag", total(), 2 * n * others);
  /* Each rank writes its own pages, and reads a page of its neighbour's. */
  double* mine = data + (size_t)sms_rank * PAGES_EACH * WORDS_IN_PAGE;
  for (int i = 0; i < 4; i++) {
    begin();
    for (int p = i == 0 ? 0 : 56; p < PAGES_EACH; p++) mine[p * WORDS_IN_PAGE] = i; /* at first what others copied */
    sms_barrier();
    seen += next[60 * WORDS_IN_PAGE];
    sms_barrier();
    const int64_t measured = total(), model = 2 * n * rounds + 4 * n * others;
    if (i > 0) expect("an epoch in which each rank reads what its neighbour wrote", measured, model);
  }
  expect_of_step("a lock that another rank keeps, for the first time", NULL, use, 12 * n * others);
  expect_of_step("a lock that another rank keeps, and this one held last", NULL, use_first, 8 * n * others);
  expect_of_step("the same lock, shared", use, share, 13 * n * others);
  sms_shutdown();
  return 0;
}
