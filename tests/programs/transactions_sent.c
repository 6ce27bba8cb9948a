/* hiroba_atomic_on: transactions that run where the data is. The argument names a mistake, or is `count`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sms.h"
#include "transaction.h"

#define CALLS 60

struct add {
  int64_t* at;
  int64_t amount, before;
};

static void add(void* argument) {
  struct add* a = argument;
  a->before = hiroba_tx_load_int64(a->at);
  hiroba_tx_store_int64(a->at, a->before + a->amount);
  hiroba_tx_store_int64(a->at + 1, hiroba_tx_load_int64(a->at + 1) - a->amount);
  a->amount = 0;
  if (a->before % 7 == 3) hiroba_tx_abort((int)a->before);
}

/* Adds 2 if the next call would be aborted. */
__attribute__((noinline)) static void pass(int64_t* at) {
  HIROBA_ATOMIC {
    if (hiroba_tx_load_int64(at) % 7 == 3) {
      hiroba_tx_store_int64(at, hiroba_tx_load_int64(at) + 2);
      hiroba_tx_store_int64(at + 1, hiroba_tx_load_int64(at + 1) - 2);
    }
  }
}

/* Each rank changes the data of all ranks, and knows the result of each change. */
static int64_t count(int64_t* data) {
  int64_t wrong = 0, aborted = 0, sum = 0, of_sum = 0;
  for (int i = 0; i < CALLS; i++) {
    struct add a = {data + 1024 * (i % sms_nprocs), 1 + i % 3, -1};
    const struct add old = a;
    const int value = hiroba_atomic_on(i % sms_nprocs, add, &a, sizeof a);
    wrong += value != hiroba_tx_value();
    if (value == 0) {
      wrong += a.amount != 0 || a.before < 0 || a.before % 7 == 3;
      sum += old.amount;
    } else {
      wrong += value % 7 != 3 || memcmp(&a, &old, sizeof a) != 0;
      aborted++;
      pass(a.at);
    }
  }
  sms_barrier();
  for (int i = 0; i < sms_nprocs; i++) {
    wrong += data[1024 * i] + data[1024 * i + 1] != 0;
    of_sum += data[1024 * i];
  }
  sum = sms_reduce_int64(sum, SMS_SUM);
  return wrong + (of_sum < sum) + (of_sum > sum + 2 * sms_reduce_int64(aborted, SMS_SUM));
}

static void meet(void* argument) {
  (void)argument;
  sms_barrier();
}
static void send_again(void* argument) { hiroba_atomic_on(0, add, argument, sizeof(struct add)); }

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const char* what = argc > 1 ? argv[1] : "count";
  int64_t* data = sms_alloc(sizeof *data, 1024 * (size_t)sms_nprocs, 0);
  const int last = sms_nprocs - 1;
  struct add a = {data, 1, 0};
  char large[HIROBA_TX_MOST_SENT + 1] = {0};
  if (strcmp(what, "count") == 0) {
    const int64_t wrong = count(data);
    if (wrong != 0) printf("rank %d: %ld wrong\n", sms_rank, (long)wrong);
    sms_barrier();
    if (sms_rank == 0 && wrong == 0) puts("done");
  } else if (sms_rank == 0) {
    if (strcmp(what, "rank") == 0) hiroba_atomic_on(sms_nprocs, add, &a, sizeof a);
    if (strcmp(what, "large") == 0) hiroba_atomic_on(last, meet, large, sizeof large);
    if (strcmp(what, "library") == 0) hiroba_atomic_on(last, free, &a, sizeof a);
    if (strcmp(what, "null") == 0) hiroba_atomic_on(last, NULL, &a, sizeof a);
    if (strcmp(what, "collective") == 0) hiroba_atomic_on(last, meet, NULL, 0);
    if (strcmp(what, "nested") == 0) hiroba_atomic_on(last, send_again, &a, sizeof a);
    if (strcmp(what, "inside") == 0) HIROBA_ATOMIC hiroba_atomic_on(last, add, &a, sizeof a);
  }
  sms_barrier();
  sms_shutdown();
  return 0;
}
