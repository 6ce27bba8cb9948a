/* Mistakes of programs with transactions, a case for each: transactions_misuse.py has the messages. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sms.h"
#include "transaction.h"

static int64_t* data;

static void barrier(void) {
  HIROBA_ATOMIC { sms_barrier(); } /* first */
}
static void lock(void) {
  HIROBA_ATOMIC { sms_lock(3); } /* first */
}
static void allocation(void) {
  HIROBA_ATOMIC { sms_alloc(8, 100, 0); } /* first */
}
static void at_end(void) {
  HIROBA_ATOMIC { sms_shutdown(); } /* first */
}
static void nest(int depth) {
  HIROBA_ATOMIC {
    if (depth < HIROBA_TX_MOST_NESTED) nest(depth + 1);
  }
}
static void nested(void) { nest(0); }
static void far_address(void) {
  HIROBA_ATOMIC { hiroba_tx_load_int64(data + (INT64_C(1) << 33)); } /* first */
}
static void far_store(void) {
  HIROBA_ATOMIC { hiroba_tx_store_int64(data + (INT64_C(1) << 33), 1); } /* first */
}
static void retry_nothing(void) {
  HIROBA_ATOMIC { hiroba_tx_retry(); } /* first */
}
static void abort_zero(void) {
  HIROBA_ATOMIC { hiroba_tx_abort(0); } /* first */
}
static void abort_alone(void) {
  HIROBA_ATOMIC { /* first */
    hiroba_tx_irrevocable();
    hiroba_tx_abort(1);
  }
}
static void outside(void) { hiroba_tx_abort(1); }
/* Another rank's transaction does not end, so that this one cannot run alone. */
static void endless(void) {
  if (sms_rank == 0) {
    HIROBA_ATOMIC { /* first */
      hiroba_tx_store_int64(&data[0], 1);
      for (;;) pause();
    }
  }
  usleep(100000);
  HIROBA_ATOMIC { hiroba_tx_irrevocable(); }
}
/* The others see all of a rank's commits, or the job ends. */
static void store_all(int64_t value) {
  HIROBA_ATOMIC {
    for (int k = 0; k < 64; ++k) hiroba_tx_store_int64(&data[k], value);
  }
}
static void see_all(void) {
  HIROBA_ATOMIC {
    if (hiroba_tx_load_int64(&data[0]) != hiroba_tx_load_int64(&data[63])) printf("half of a commit\n");
  }
}
static void killed(void) {
  for (int64_t i = 1;; ++i) {
    if (sms_rank == 0) store_all(i);
    else see_all();
    if (sms_rank == 0 && i == 2000) raise(SIGKILL);
  }
}
static void alone_may(void) {
  HIROBA_ATOMIC {
    hiroba_tx_irrevocable();
    sms_lock(sms_rank);
    sms_unlock(sms_rank);
  }
}

typedef struct {
  const char* name;
  void (*run)(void);
} Case;
#define CASE(name) {#name, name}
static const Case cases[] = {CASE(barrier),       CASE(lock),        CASE(allocation), CASE(at_end),   CASE(nested),
                             CASE(far_address),   CASE(far_store),   CASE(abort_zero), CASE(outside),  CASE(endless),
                             CASE(retry_nothing), CASE(abort_alone), CASE(killed),     CASE(alone_may)};

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const int dim[] = {1024, -1}, div[] = {sms_nprocs, -1};
  data = sms_mapalloc(dim, div, 8, 0, sms_nprocs);
  sms_barrier();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) cases[i].run();
  sms_shutdown();
}
