/* Litmus tests of the memory model, each a function that every rank calls. They need at least the ranks stated in
 * litmus.c; roles move over the ranks from round to round, so that writer, reader and home meet in every way. A
 * forbidden outcome ends the job.
 */
#ifndef HIROBA_TESTS_LITMUS_H
#define HIROBA_TESTS_LITMUS_H

#include "programs.h"

/* litmus_order.c: which orders a reader may see. */
void mp_lock(int rounds);
void mp_flag(int rounds);
void mp_barrier(int rounds);
void mp_drop(int rounds);
void mp_all(int rounds);
void mp_team(int rounds);
void sb_lock(int rounds);
void sb_atomic(int rounds);
void iriw_lock(int rounds);
void iriw_atomic(int rounds);
void iriw_barrier(int rounds);
void coherence_lock(int rounds);
void coherence_atomic(int rounds);
void atomic_then_read(int rounds);
void chain_lock(int rounds);
void chain_flag(int rounds);
void chain_mixed(int rounds);
void log_overflow(int rounds);
void closed_copies(int rounds);

/* litmus_locks.c: shared locks, condition variables, once, and chains of all kinds. */
void shared_lock(int rounds);
void shared_release(int rounds);
void condition_queue(int rounds);
void condition_broadcast(int rounds);
void once(int rounds);
void chain_all(int rounds);

/* litmus_pages.c: what becomes of bytes that share a page. */
void share_barrier(int rounds);
void share_drop(int rounds);
void share_halves(int rounds);
void own_between(int rounds);
void whole_runs(int rounds);
void share_lock(int rounds);
void share_churn(int rounds);
void blind_write(int rounds);
void toggle(int rounds);
void counter_lock(int rounds);
void counter_trylock(int rounds);
void counter_swap(int rounds);
void counter_busy(int rounds);
void evict(int rounds);
void thread_release(int rounds);
void acquire_beside(int rounds);
void stale_eviction(int rounds);
void huge_pages(int rounds);
void preload_stale(int rounds);
void renew(int rounds);

/* A few steps of nothing, different in each rank and round, so that ranks do not march in step. */
static inline void stagger(uint64_t round) {
  for (volatile uint64_t n = mix2(round, (uint64_t)sms_rank) % 64; n > 0; --n) continue;
}

static inline int64_t read_locked(int lock, const int64_t* at) {
  sms_lock(lock);
  const int64_t value = *at;
  sms_unlock(lock);
  return value;
}

static inline void write_locked(int lock, int64_t* at, int64_t value) {
  sms_lock(lock);
  *at = value;
  sms_unlock(lock);
}

static inline void wait_locked(int lock, const int64_t* at, int64_t value) {
  for (int looks = 0; read_locked(lock, at) != value; ++looks) pause_between_looks(looks);
}

static inline void wait_atomic(const int64_t* at, int64_t value) {
  for (int looks = 0; sms_atomic_load(at) != value; ++looks) pause_between_looks(looks);
}

enum { MESSAGE_WORDS = 8, MESSAGE_APART = 700 }; /* words of a message, 5,600 bytes from each other */

/* A message spread over pages of all ranks. */
static inline int64_t* message_create(void) { return spread(MESSAGE_WORDS * MESSAGE_APART, 1, sizeof(int64_t)); }

static inline void message_write(int64_t* message, int64_t value) {
  for (int k = 0; k < MESSAGE_WORDS; ++k) message[k * MESSAGE_APART] = value + k;
}

static inline void message_check(const int64_t* message, int64_t value, const char* test) {
  for (int k = 0; k < MESSAGE_WORDS; ++k)
    if (message[k * MESSAGE_APART] != value + k)
      fail("litmus %s, round %ld, rank %d: word %d (home rank %d) is %ld, expected %ld", test, value, sms_rank, k,
           sms_home(&message[k * MESSAGE_APART]), message[k * MESSAGE_APART], value + k);
}

static inline int64_t* word_on(int rank) { return sms_alloc(sizeof(int64_t), 1, rank % sms_nprocs); }

#endif
