/* Litmus tests of shared locks, condition variables and what is done once, and of chains in which all kinds of
 * synchronisation hand on what the first has written.
 */
#include <pthread.h>

#include "litmus.h"

static void beside(pthread_t* thread, void* (*run)(void*), void* argument) {
  if (pthread_create(thread, NULL, run, argument) != 0) fail("cannot start a thread");
}

/* ---- shared locks ---------------------------------------------------------------------------------------- */

typedef struct sharing {
  int64_t* message;
  int rounds, thread;
} sharing;

/* Who shares the lock sees all of a change or nothing of it; who holds it alone makes changes. */
static void* share_and_change(void* argument) {
  const sharing* s = argument;
  for (int i = 0; i < s->rounds; ++i) {
    if ((i + sms_rank + s->thread) % 4 == 0) {
      sms_lock(90);
      message_write(s->message, s->message[0] + 1);
      sms_unlock(90);
      continue;
    }
    if ((i & 4) != 0) sms_lock_shared(90);
    else
      for (int looks = 0; !sms_trylock_shared(90); ++looks) pause_between_looks(looks);
    message_check(s->message, s->message[0], "shared_lock");
    sms_unlock_shared(90);
  }
  return NULL;
}

void shared_lock(int rounds) {
  sharing mine = {message_create(), rounds, 0}, others = {mine.message, rounds, 1};
  int64_t changes = 0;
  if (sms_rank == 0) message_write(mine.message, 0);
  sms_barrier();
  pthread_t thread;
  beside(&thread, share_and_change, &others);
  share_and_change(&mine);
  pthread_join(thread, NULL);
  for (int i = 0; i < rounds; ++i) changes += (i + sms_rank) % 4 == 0, changes += (i + sms_rank + 1) % 4 == 0;
  changes = sms_reduce_int64(changes, SMS_SUM);
  sms_barrier();
  message_check(mine.message, changes, "shared_lock, at the end");
  /* All ranks share it at the same time, or none would come to the barrier; nobody gets it alone. */
  sms_lock_shared(90);
  sms_barrier();
  if (sms_rank == 0) {
    sms_unlock_shared(90);
    if (sms_nprocs > 1 && sms_trylock(90)) fail("litmus shared_lock: got a lock alone that is shared");
  }
  sms_barrier();
  if (sms_rank != 0) sms_unlock_shared(90);
}

/* Giving back a shared lock is a release: who then takes it alone sees what was written before. The flag says only when
 * to take it; there is no sms_sync. */
void shared_release(int rounds) {
  int64_t* message = message_create();
  int64_t *flag = word_on(0), *answers = word_on(1);
  for (int64_t i = 1; i <= rounds; ++i) {
    const int alone = (i & 1) != 0;
    if (i % sms_nprocs == sms_rank) {
      sms_lock_shared(92);
      message_write(message, i);
      sms_unlock_shared(92);
      sms_atomic_store(flag, i);
    } else {
      wait_atomic(flag, i);
      if (alone) sms_lock(92);
      else sms_lock_shared(92);
      message_check(message, i, "shared_release");
      if (alone) sms_unlock(92);
      else sms_unlock_shared(92);
      sms_fetch_add(answers, 1);
    }
    if ((i + 1) % sms_nprocs == sms_rank) wait_atomic(answers, i * (sms_nprocs - 1));
  }
}

/* ---- condition variables --------------------------------------------------------------------------------- */

enum { PLACES = 4, QUEUE = 93, NOT_FULL = 5, NOT_EMPTY = 6 };

typedef struct queue {
  int64_t first, count, consumed, sum;
  int64_t item[PLACES];
} queue;

typedef struct consuming {
  queue* q;
  int64_t* payload; /* a page for each item that is under way */
  int items;
} consuming;

static void* consume(void* argument) {
  const consuming* c = argument;
  for (int n = 0; n < c->items; ++n) {
    sms_lock(QUEUE);
    while (c->q->count == 0) sms_wait(NOT_EMPTY, QUEUE);
    const int64_t item = c->q->item[c->q->first % PLACES], *at = &c->payload[c->q->first % PLACES * MESSAGE_APART];
    if (*at != item * 3) fail("litmus condition_queue, rank %d: item %ld came with %ld", sms_rank, item, *at);
    ++c->q->first, --c->q->count, ++c->q->consumed, c->q->sum += item;
    sms_signal(NOT_FULL);
    sms_unlock(QUEUE);
  }
  return NULL;
}

/* All ranks produce and consume by one short queue, each with a thread for either. */
void condition_queue(int rounds) {
  queue* q = sms_alloc(sizeof *q, 1, 1 % sms_nprocs);
  int64_t* payload = spread(PLACES * MESSAGE_APART, 1, sizeof(int64_t));
  consuming c = {q, payload, rounds};
  pthread_t consumer;
  beside(&consumer, consume, &c);
  for (int n = 0; n < rounds; ++n) {
    const int64_t item = n * sms_nprocs + sms_rank;
    sms_lock(QUEUE);
    while (q->count == PLACES) sms_wait(NOT_FULL, QUEUE);
    payload[(q->first + q->count) % PLACES * MESSAGE_APART] = item * 3;
    q->item[(q->first + q->count++) % PLACES] = item;
    sms_signal(NOT_EMPTY);
    sms_unlock(QUEUE);
  }
  pthread_join(consumer, NULL);
  sms_barrier();
  const int64_t all = (int64_t)rounds * sms_nprocs;
  if (q->consumed != all || q->sum != all * (all - 1) / 2 || q->count != 0)
    fail("litmus condition_queue, rank %d: %ld of %ld items, sum %ld", sms_rank, q->consumed, all, q->sum);
}

/* One wakes all others, and they see what it has written. Signals that nobody waits for are forgotten. */
void condition_broadcast(int rounds) {
  int64_t* message = message_create();
  int64_t *round = word_on(0), *seen = word_on(1);
  for (int64_t i = 1; i <= rounds; ++i) {
    if (i % sms_nprocs == sms_rank) {
      message_write(message, i);
      sms_lock(94);
      *round = i;
      if ((i & 1) != 0) sms_broadcast(7);
      sms_unlock(94);
      if ((i & 1) == 0) sms_broadcast(7); /* after the lock, too */
    }
    sms_lock(94);
    while (*round < i) sms_wait(7, 94);
    message_check(message, i, "condition_broadcast");
    if (++*seen == i * sms_nprocs) sms_broadcast(8);
    while (*seen < i * sms_nprocs) sms_wait(8, 94);
    sms_unlock(94);
  }
}

/* ---- once ------------------------------------------------------------------------------------------------ */

static int64_t *once_message, *once_count, once_round;

static void do_once(void) {
  message_write(once_message, once_round);
  ++*once_count;
}

static void* call_once(void* unused) {
  sms_once((int)once_round, do_once);
  message_check(once_message, once_round, "once");
  return unused;
}

void once(int rounds) {
  once_message = message_create(), once_count = word_on(1);
  for (once_round = 1; once_round <= rounds && once_round < SMS_ONCES; ++once_round) {
    pthread_t thread;
    stagger((uint64_t)once_round);
    beside(&thread, call_once, NULL);
    call_once(NULL);
    pthread_join(thread, NULL);
    call_once(NULL);
    sms_barrier();
    if (*once_count != once_round)
      fail("litmus once, round %ld, rank %d: %ld calls", once_round, sms_rank, *once_count);
    sms_barrier();
  }
}

/* ---- chains ---------------------------------------------------------------------------------------------- */

/* Waits until the step is `value`; by a lock, a shared lock, a condition, or a flag. */
static void await_step(int64_t* step, int lock, int64_t value, int kind) {
  if (kind == 0) {
    wait_locked(lock, step, value);
  } else if (kind == 1) {
    for (int looks = 0, done = 0; !done; ++looks) {
      sms_lock_shared(lock);
      done = *step == value;
      sms_unlock_shared(lock);
      if (!done) pause_between_looks(looks);
    }
  } else if (kind == 2) {
    sms_lock(lock);
    while (*step != value) sms_wait(lock, lock);
    sms_unlock(lock);
  } else {
    wait_atomic(step, value);
    sms_sync();
  }
}

static void make_step(int64_t* step, int lock, int64_t value, int kind) {
  if (kind == 3) {
    sms_sync();
    sms_atomic_store(step, value);
    return;
  }
  sms_lock(lock);
  *step = value;
  if (kind == 2) sms_broadcast(lock);
  sms_unlock(lock);
}

/* A message goes from rank to rank, by links of all kinds in turn; the last of a round is the first of the next one.
 * Barriers of both kinds come in between, so links begin and end on either side of one. */
void chain_all(int rounds) {
  int64_t* message = message_create();
  int64_t* step = spread(sms_nprocs * 4, 600, sizeof(int64_t));
  for (int64_t i = 1; i <= rounds; ++i) {
    const int role = (int)((sms_rank + i) % sms_nprocs);
    const int in = (int)((role + i) % 4), out = (int)((role + 1 + i) % 4);
    if (i % 13 == 0) sms_barrier();
    if (i % 17 == 0) sms_sync_drop();
    if (role == 0) {
      if (i > 1) message_check(message, i - 1, "chain_all, of the round before");
      message_write(message, i);
    } else {
      await_step(&step[(in * sms_nprocs + role - 1) * 600], 100 + role - 1, i, in);
      message_check(message, i, "chain_all");
    }
    make_step(&step[(out * sms_nprocs + role) * 600], 100 + role, i, out);
    if (i % 5 == 0) sms_reduce_int64(0, SMS_SUM);
  }
  sms_barrier();
  message_check(message, rounds, "chain_all, at the end");
}
