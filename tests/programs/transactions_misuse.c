/* Mistakes of programs with transactions, a case for each: transactions_misuse.py has the messages. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sms.h"
#include "task.h"
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
static void retry_for_ever(void) {
  HIROBA_ATOMIC { /* first */
    if (hiroba_tx_load_int64(data) == 0) hiroba_tx_retry();
  }
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
    for (int k = 0; k < 64; ++k) hiroba_tx_store_int64(&data[k * 16], value);
  }
}
static void see_all(void) {
  HIROBA_ATOMIC {
    const int64_t first = hiroba_tx_load_int64(&data[0]);
    for (int k = 1; k < 64; ++k)
      if (hiroba_tx_load_int64(&data[k * 16]) != first) sms_abort(7, "half of a commit");
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

/* Input and output. */
static void prints(void) {
  HIROBA_ATOMIC { printf("%d accounts\n", sms_rank); } /* first */
}
static void puts_line(void) {
  HIROBA_ATOMIC { puts("in the middle"); } /* first */
}
static void writes(void) {
  HIROBA_ATOMIC { /* first */
    if (write(2, "x", 1) != 1) abort();
  }
}
static void to_file(void) {
  HIROBA_ATOMIC { fprintf(stderr, "%s\n", "to a stream"); } /* first */
}
static void opens(void) {
  HIROBA_ATOMIC { fclose(fopen("/dev/null", "r")); } /* first */
}
static void say(void* what) { puts(what); }
/* What an irrevocable transaction and actions do is done once. */
static void may_print(void) {
  HIROBA_ATOMIC {
    hiroba_tx_irrevocable();
    printf("alone\n");
  }
  HIROBA_ATOMIC { hiroba_tx_on_commit(say, "after the commit"); }
  HIROBA_ATOMIC {
    hiroba_tx_on_abort(say, "after the abort");
    hiroba_tx_abort(1);
  }
}
/* Freed memory. */
static int64_t* object(void) {
  int64_t* const made = hiroba_tx_malloc(64);
  hiroba_tx_store_int64(made, 1);
  return made;
}
static void load_freed(void) {
  int64_t* const o = object();
  HIROBA_ATOMIC { /* first */
    hiroba_tx_free(o);
    hiroba_tx_load_int64(o + 1); /* second */
  }
}
static void store_freed(void) {
  int64_t* const o = object();
  HIROBA_ATOMIC { /* first */
    hiroba_tx_store_int64(o, 2);
    hiroba_tx_free(o);
    hiroba_tx_store_int64(o, 3); /* second */
  }
}
static void store_freed_malloc(void) {
  int64_t* const o = malloc(64);
  HIROBA_ATOMIC { /* first */
    hiroba_tx_free(o);
    hiroba_tx_store_int64(o + 7, 3); /* second */
  }
}
static void read_freed(void) {
  int64_t* const o = object();
  char copy[16];
  HIROBA_ATOMIC { /* first */
    hiroba_tx_free(o);
    hiroba_tx_read(copy, (char*)o + 3, sizeof copy); /* second */
  }
}
static void free_twice(void) {
  int64_t* const o = object();
  HIROBA_ATOMIC { /* first */
    hiroba_tx_free(o);
    hiroba_tx_free(o); /* second */
  }
}
static void free_array(void) {
  HIROBA_ATOMIC { hiroba_tx_free(data); } /* first */
}
/* A free that is undone is none. */
static void free_undone(void) {
  int64_t* const o = object();
  for (int i = 0; i < 3; ++i) {
    HIROBA_ATOMIC {
      hiroba_tx_store_int64(o, 2);
      hiroba_tx_free(o);
      hiroba_tx_abort(1);
    }
  }
  HIROBA_ATOMIC {
    if (hiroba_tx_load_int64(o) != 1) abort();
    hiroba_tx_free(o);
  }
}
/* Addresses. */
static void not_aligned(void) {
  HIROBA_ATOMIC { hiroba_tx_store_int64((int64_t*)((char*)data + 4), 1); } /* first */
}
static void not_aligned_load(void) {
  HIROBA_ATOMIC { hiroba_tx_load_int64((int64_t*)((char*)data + 4)); } /* first */
}
static void null_load(void) {
  HIROBA_ATOMIC { hiroba_tx_load_int64(NULL); } /* first */
}
static void null_store(void) {
  HIROBA_ATOMIC { hiroba_tx_store_int64(NULL, 1); } /* first */
}
/* What strangers write. */
static void mfree_inside(void) {
  int64_t* const o = object();
  HIROBA_ATOMIC { sms_mfree(o); } /* first */
}
static int leaves_by_return(int i) {
  HIROBA_ATOMIC {
    if (hiroba_tx_load_int64(&data[0]) == i) return 1;
  }
  return 0;
}
static void returns(void) {
  for (int i = 0; i < 2000; ++i) leaves_by_return(0);
}
static void breaks(void) {
  HIROBA_ATOMIC { /* first */
    if (hiroba_tx_load_int64(&data[0]) == 0) break;
  }
  sms_barrier();
}
static void exits(void) {
  HIROBA_ATOMIC { exit(0); }
}
static void fence_inside(void) {
  HIROBA_ATOMIC { hiroba_tx_fence(); } /* first */
}
static void work(void* unused) { (void)unused; }
static void task_inside(void) {
  HIROBA_ATOMIC { hiroba_task(work, NULL, NULL, 0); } /* first */
}
static void taskwait_inside(void) {
  HIROBA_ATOMIC { hiroba_taskwait(); } /* first */
}
static void commit_twice(void) {
  HIROBA_ATOMIC { hiroba_tx_commit(&hiroba_tx_here); }
}
static void negative_rank(void) {
  HIROBA_ATOMIC { hiroba_tx_malloc_on(8, -3); }
}
static void no_rank(void) {
  HIROBA_ATOMIC { hiroba_tx_malloc_on(8, 99); }
}
static void retry_alone(void) {
  HIROBA_ATOMIC { /* first */
    hiroba_tx_irrevocable();
    hiroba_tx_load_int64(&data[0]);
    hiroba_tx_retry();
  }
}
static void restart_alone(void) {
  HIROBA_ATOMIC { /* first */
    hiroba_tx_irrevocable();
    hiroba_tx_restart();
  }
}
/* One thread for ever alone; and one for ever in its block, for which a commit waits. */
static void alone_for_ever(void) {
  if (sms_rank == 0) {
    HIROBA_ATOMIC { /* first */
      hiroba_tx_irrevocable();
      for (;;) pause();
    }
  }
  usleep(200000);
  HIROBA_ATOMIC { hiroba_tx_store_int64(&data[1], 1); }
}
static void reads_for_ever(void) {
  if (sms_rank == 0) {
    HIROBA_ATOMIC { /* first */
      hiroba_tx_load_int64(&data[0]);
      for (;;) pause();
    }
  }
  usleep(200000);
  HIROBA_ATOMIC { hiroba_tx_store_int64(&data[sms_rank * 8], 1); }
}
static void locks_across(void) {
  sms_lock(1);
  HIROBA_ATOMIC { sms_unlock(1); } /* first */
}

/* Races of other accesses with those of transactions, for option check. */
static void add_one(int64_t* to) {
  HIROBA_ATOMIC { hiroba_tx_store_int64(to, hiroba_tx_load_int64(to) + 1); }
}
static int64_t look(void) { return *(volatile int64_t*)&data[0]; }
static void set(void) { *(volatile int64_t*)&data[0] = 0; }
/* A rank that runs no transactions; one that does, before and after, of other data; and writes. */
static void plain_load(void) {
  if (sms_rank == 0) add_one(&data[0]);
  else look();
  sms_barrier();
}
static void plain_load_between(void) {
  int64_t* const other = &data[64 + sms_rank * 64];
  if (sms_rank == 0) {
    usleep(100000);
    add_one(&data[0]);
  } else {
    add_one(other);
    look();
    usleep(300000);
    add_one(other);
  }
  sms_barrier();
}
static void plain_store(void) {
  if (sms_rank == 0) add_one(&data[0]);
  else set();
  sms_barrier();
}
/* No races: objects are prepared, made public, taken back. */
static void handed_over(void) {
  int64_t** const box = (int64_t**)&data[8];
  if (sms_rank == 0) {
    int64_t* const o = hiroba_tx_malloc(64);
    for (int i = 0; i < 8; ++i) o[i] = i;
    if (sms_nnodes > 1) hiroba_tx_fence();
    HIROBA_ATOMIC { hiroba_tx_store_pointer((void**)box, o); }
  } else {
    int64_t* volatile o;
    HIROBA_ATOMIC {
      o = hiroba_tx_load_pointer((void**)box);
      if (o == NULL) hiroba_tx_retry();
      hiroba_tx_store_int64(&o[1], hiroba_tx_load_int64(&o[0]));
      hiroba_tx_store_pointer((void**)box, NULL);
    }
    if (sms_nnodes > 1) hiroba_tx_fence();
    for (int i = 0; i < 8; ++i) o[i] += o[1];
    hiroba_tx_free(o);
  }
  add_one(&data[0]);
  sms_barrier();
  look();
}

typedef struct {
  const char* name;
  void (*run)(void);
} Case;
#define CASE(name) {#name, name}
static const Case cases[] = {CASE(barrier),
                             CASE(lock),
                             CASE(allocation),
                             CASE(at_end),
                             CASE(nested),
                             CASE(far_address),
                             CASE(far_store),
                             CASE(abort_zero),
                             CASE(outside),
                             CASE(endless),
                             CASE(retry_nothing),
                             CASE(retry_for_ever),
                             CASE(abort_alone),
                             CASE(killed),
                             CASE(alone_may),
                             CASE(prints),
                             CASE(puts_line),
                             CASE(writes),
                             CASE(to_file),
                             CASE(opens),
                             CASE(may_print),
                             CASE(load_freed),
                             CASE(store_freed),
                             CASE(store_freed_malloc),
                             CASE(read_freed),
                             CASE(free_twice),
                             CASE(free_array),
                             CASE(free_undone),
                             CASE(not_aligned),
                             CASE(not_aligned_load),
                             CASE(null_load),
                             CASE(null_store),
                             CASE(mfree_inside),
                             CASE(returns),
                             CASE(breaks),
                             CASE(exits),
                             CASE(fence_inside),
                             CASE(task_inside),
                             CASE(taskwait_inside),
                             CASE(commit_twice),
                             CASE(negative_rank),
                             CASE(no_rank),
                             CASE(retry_alone),
                             CASE(restart_alone),
                             CASE(alone_for_ever),
                             CASE(reads_for_ever),
                             CASE(locks_across),
                             CASE(plain_load),
                             CASE(plain_load_between),
                             CASE(plain_store),
                             CASE(handed_over)};

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const int dim[] = {1024, -1}, div[] = {sms_nprocs, -1};
  data = sms_mapalloc(dim, div, 8, 0, sms_nprocs);
  sms_barrier();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) cases[i].run();
  sms_shutdown();
}
