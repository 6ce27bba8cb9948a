/* Accounts: transfers between two of them, and sums of all, which never change: bank SIZE SUMS THREADS OPERATIONS. */
#include "work.h"

typedef struct bench {
  int size, sums, operations;
  int64_t* account;
  int64_t wrong[256]; /* sums that a thread found to be others than that of the start */
} bench;
enum { START = 1000 };

static void transfer(bench* b, int64_t from, int64_t to, int64_t amount) {
  ATOMIC {
    critical_store(CRITICAL_TRANSACTIONS, &b->account[from],
                   critical_load(CRITICAL_TRANSACTIONS, &b->account[from]) - amount);
    critical_store(CRITICAL_TRANSACTIONS, &b->account[to],
                   critical_load(CRITICAL_TRANSACTIONS, &b->account[to]) + amount);
  }
}

static int64_t add_all(bench* b) {
  int64_t sum = 0; /* each attempt sets it */
  ATOMIC {
    int64_t all = 0;
    for (int i = 0; i < b->size; i++) all += critical_load(CRITICAL_TRANSACTIONS, &b->account[i]);
    sum = all;
  }
  return sum;
}

static void work(void* of, int thread) {
  bench* const b = of;
  uint64_t random = critical_seed(1, thread);
  int64_t wrong = 0;
  for (int i = 0; i < b->operations; i++) {
    if (critical_random(&random, 100) < b->sums) {
      wrong += add_all(b) != (int64_t)START * b->size;
      continue;
    }
    const int64_t from = critical_random(&random, b->size), to = critical_random(&random, b->size);
    transfer(b, from, to, 1 + critical_random(&random, 100));
  }
  b->wrong[thread] = wrong;
}

int main(int argc, char** argv) {
  (void)argc;
  static bench b;
  const int threads = number(argv, 3);
  b.size = number(argv, 1), b.sums = number(argv, 2), b.operations = number(argv, 4);
  b.account = malloc((size_t)b.size * sizeof *b.account);
  if (b.account == NULL) return 2;
  for (int i = 0; i < b.size; i++) b.account[i] = START;
  contestant_begin();
  const double seconds = in_threads(threads, work, &b);
  int64_t wrong = 0, rest = (int64_t)START * b.size;
  for (int t = 0; t < threads; t++) wrong += b.wrong[t];
  for (int i = 0; i < b.size; i++) rest -= b.account[i];
  if (wrong != 0 || rest != 0) {
    fprintf(stderr, "%ld sums are wrong, %ld of the money is missing\n", (long)wrong, (long)rest);
    return 3;
  }
  report(seconds, (double)b.operations * threads);
  return 0;
}
