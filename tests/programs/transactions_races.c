/* The anomalies that transactions must not have, provoked by all ranks at once: `transactions_races TRANSACTIONS`.
 * Lost updates by hot writers, inconsistent reads of attempts that will abort, write skew, aborts that leave a trace,
 * objects that are private or not yet public and in use all the same. `transactions_races hot SECONDS`: all ranks write
 * two words for that time, and each transaction ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sms.h"
#include "transaction.h"

typedef struct shared {
  int64_t a, b;      /* equal, between transactions */
  int64_t chosen[2]; /* at most one of them is 1 */
  int64_t apart[512];
  int64_t unchanged; /* 0: who changes it aborts; on no stripe of the others */
  int64_t more[64];
  struct object* box; /* NULL, or an object that transactions change */
} shared;

typedef struct object {
  int64_t word[16]; /* equal, between transactions, and for who has it alone */
} object;

enum { kept = 65536 }; /* bytes that a rank frees later, because others may still read them */

static shared* s;
static int transactions;

static void wrong(const char* what) {
  printf("rank %d: wrong: %s\n", sms_rank, what);
  fflush(stdout);
  _Exit(3);
}

static void add(int64_t* to, int64_t more) { hiroba_tx_store_int64(to, hiroba_tx_load_int64(to) + more); }

/* Half of the ranks take the words in the other order. */
static void write_both(void) {
  int64_t* const first = sms_rank % 2 ? &s->a : &s->b;
  add(first, 1);
  add(first == &s->a ? &s->b : &s->a, 1);
}

/* An attempt that saw words of two moments would use another element than the first, or loop for ever. */
static void use_both(void) {
  static const int only[1] = {1};
  const int64_t a = hiroba_tx_load_int64(&s->a), b = hiroba_tx_load_int64(&s->b);
  if (a != b) wrong("an attempt has seen values of two moments");
  if (only[b - a] != 1) wrong("the index");
  for (int64_t i = a; i != b; i++) continue;
}

/* Serial transactions never choose both: who sees that none is chosen writes one word, and has read the other. */
static void choose(void) {
  if (hiroba_tx_load_int64(&s->chosen[0]) + hiroba_tx_load_int64(&s->chosen[1]) == 0)
    hiroba_tx_store_int64(&s->chosen[sms_rank % 2], 1);
}
static void look(void) {
  if (hiroba_tx_load_int64(&s->chosen[0]) + hiroba_tx_load_int64(&s->chosen[1]) > 1) wrong("write skew");
  hiroba_tx_store_int64(&s->chosen[sms_rank % 2], 0);
}

static void change_and_abort(void) {
  if (hiroba_tx_load_int64(&s->unchanged) != 0) wrong("an abort has left what it wrote");
  hiroba_tx_store_int64(&s->unchanged, 7);
  if (hiroba_tx_load_int64(&s->unchanged) != 7) wrong("a transaction does not read what it wrote");
  int64_t* const lost = hiroba_tx_malloc(4096);
  hiroba_tx_store_int64(lost, 1);
  hiroba_tx_abort(5);
}

/* Makes an object with plain stores, and puts it into the box. */
static object* made;
static void forget(void* pointer) { *(object**)pointer = NULL; }
static void put(void) {
  if (hiroba_tx_load_pointer((void**)&s->box) != NULL) return;
  hiroba_tx_store_pointer((void**)&s->box, made);
  hiroba_tx_on_commit(forget, &made);
}
static void change(void) {
  object* const o = hiroba_tx_load_pointer((void**)&s->box);
  if (o == NULL) return;
  const int64_t first = hiroba_tx_load_int64(&o->word[0]);
  for (int i = 0; i < 16; i++) {
    if (hiroba_tx_load_int64(&o->word[i]) != first) wrong("an object is in use before it is public, or while private");
    hiroba_tx_store_int64(&o->word[i], first + 1);
  }
}
static object* volatile taken;
static void take(void) {
  taken = hiroba_tx_load_pointer((void**)&s->box);
  hiroba_tx_store_pointer((void**)&s->box, NULL);
}
/* What commits late, or reads too early, is seen. */
static void use_alone(object* mine) {
  const int64_t first = mine->word[0];
  for (int look = 0; look < 4; look++)
    for (int i = 0; i < 16; i++)
      if (((volatile int64_t*)mine->word)[i] != first) wrong("a private object changes");
  for (int i = 0; i < 16; i++) mine->word[i] = i; /* no transaction must see it */
}

static void run(void (*block)(void)) {
  HIROBA_ATOMIC { block(); }
}

static void private_and_public(void) {
  if (made == NULL) {
    made = hiroba_tx_malloc(sizeof *made);
    for (int i = 0; i < 16; i++) made->word[i] = sms_rank;
    if (sms_nnodes > 1) hiroba_tx_fence();
  }
  run(put);
  run(change);
  if (sms_rank % 2 == 0) return;
  run(take);
  if (taken == NULL) return;
  if (sms_nnodes > 1) hiroba_tx_fence();
  use_alone(taken);
  if (sms_nnodes > 1) hiroba_tx_fence();
  hiroba_tx_free(taken);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns the number of this rank's transactions, and the time of the longest. */
static int64_t write_until(double end, double* longest) {
  int64_t count = 0;
  for (double before = now(); before < end; count++) {
    run(write_both);
    const double after = now();
    if (after - before > *longest) *longest = after - before;
    before = after;
  }
  return count;
}

/* Bytes in objects on the heap: those that aborted transactions have allocated are free again. */
static int64_t live(void) {
  sms_heap_statistics heap;
  sms_heap_stats(&heap);
  return sms_reduce_int64((int64_t)heap.live_bytes, SMS_SUM);
}

static void hot(double seconds) {
  double longest = 0;
  const int64_t writes = sms_reduce_int64(write_until(now() + seconds, &longest), SMS_SUM);
  hiroba_tx_statistics mine;
  hiroba_tx_stats(&mine);
  const double most = sms_reduce_double((double)mine.most_aborts, SMS_MAX);
  const int64_t alone = sms_reduce_int64((int64_t)mine.irrevocable, SMS_SUM);
  longest = sms_reduce_double(longest, SMS_MAX);
  if (s->a != writes || s->b != writes) wrong("updates are lost");
  if (sms_rank == 0)
    printf("done: %ld commits; the longest transaction took %.2f s, the worst was aborted %.0f times, %ld ran alone\n",
           (long)writes, longest, most, (long)alone);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  s = sms_alloc(sizeof *s, 1, 0);
  if (argc > 2 && strcmp(argv[1], "hot") == 0) {
    hot(atof(argv[2]));
    sms_shutdown();
    return 0;
  }
  transactions = atoi(argv[1]);
  const int64_t before = live();
  for (int i = 0; i < transactions; i++) {
    run(write_both);
    run(use_both);
    run(choose);
    run(look);
    run(change_and_abort);
    if (hiroba_tx_value() != 5) wrong("the value of an abort");
    private_and_public();
  }
  hiroba_tx_free(made);
  sms_barrier();
  if (sms_rank == 0) hiroba_tx_free(s->box);
  sms_barrier();
  hiroba_tx_statistics mine;
  hiroba_tx_stats(&mine);
  const double most = sms_reduce_double((double)mine.most_aborts, SMS_MAX);
  const int64_t writes = (int64_t)transactions * sms_nprocs, after = live();
  if (s->a != writes || s->b != writes) wrong("updates are lost");
  if (s->chosen[0] + s->chosen[1] > 1 || s->unchanged != 0) wrong("the end");
  /* Option check counts freed objects that it keeps. */
  if (getenv("HIROBA_CHECK") == NULL && after - before > (int64_t)kept * sms_nprocs)
    wrong("aborted transactions have left objects on the heap");
  if (sms_rank == 0) printf("done: at most %.0f aborts of one transaction\n", most);
  sms_shutdown();
  return 0;
}
