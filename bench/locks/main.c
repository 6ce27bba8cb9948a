/* What taking and giving back a lock costs: bench_locks CASE [TURNS]. One line of JSON, by rank 0.
 *
 * contended    all ranks take one lock in turn and add to 8 bytes that it protects
 * cached       the same; between two turns each rank reads 200 random words of 32 MiB that nobody writes
 * uncontended  one rank takes and gives back a lock that it held last
 * bring        a rank with `MIB` of clean copies takes a lock that another has released after writing one page
 * shared       all ranks take one lock shared at a time, and read what it protects
 * condition    rank 0 and the last one wait for each other in turn by a condition variable
 *
 * The protected count is checked, so an addition that is lost ends the run.
 */
#include <sms.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../apps/common/clock.h"

static void check(int ok, const char* what) {
  if (!ok) sms_abort(1, what);
}

enum { LOCK = 1, READS = 200, WARM_TURNS = 50 };

static uint64_t next_random(uint64_t* state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  return *state;
}

/* Reads of data that never changes; the sum is known. */
static void read_some(const int64_t* data, size_t words, uint64_t* state) {
  int64_t wrong = 0;
  for (int i = 0; i < READS; ++i) {
    const size_t at = next_random(state) % words;
    wrong += data[at] - (int64_t)at;
  }
  check(wrong == 0, "a word that nobody writes has changed");
}

static void turns(int64_t* counter, const int64_t* data, size_t words, int count) {
  uint64_t state = 88172645463325252u + (uint64_t)sms_rank;
  for (int i = 0; i < count; ++i) {
    sms_lock(LOCK);
    ++*counter;
    sms_unlock(LOCK);
    if (words > 0) read_some(data, words, &state);
  }
}

/* Microseconds from one holder to the next. */
static void contended(int count, size_t mib) {
  const size_t words = mib << 20 >> 3;
  int64_t* const counter = sms_alloc(8, 1, 0);
  int64_t* const data = sms_alloc(8, words + 1, 0);
  if (sms_rank == 0)
    for (size_t i = 0; i < words; ++i) data[i] = (int64_t)i;
  sms_barrier();
  int64_t sum = 0;
  for (size_t i = 0; i < words; i += 512) sum += data[i];
  check(words == 0 || sum > 0, "the data is not there");
  turns(counter, data, words, WARM_TURNS);
  sms_barrier();
  const double start = now();
  turns(counter, data, words, count);
  sms_barrier();
  const double seconds = now() - start;
  check(*counter == (int64_t)sms_nprocs * (count + WARM_TURNS), "additions under the lock were lost");
  if (sms_rank == 0) printf("{\"microseconds\": %.4f}\n", 1e6 * seconds / count / sms_nprocs);
}

static void uncontended(int count) {
  sms_barrier();
  if (sms_rank == 0) {
    for (int i = 0; i < WARM_TURNS; ++i) sms_lock(LOCK), sms_unlock(LOCK);
    const double start = now();
    for (int i = 0; i < count; ++i) sms_lock(LOCK), sms_unlock(LOCK);
    printf("{\"microseconds\": %.4f}\n", 1e6 * (now() - start) / count);
  }
  sms_barrier();
}

/* Microseconds of a rank, from taking the lock to having given it back. */
static void shared(int count) {
  int64_t* const word = sms_alloc(8, 1, 0);
  if (sms_rank == 0) *word = 5;
  sms_barrier();
  const double start = now();
  int64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    sms_lock_shared(LOCK);
    sum += *(volatile int64_t*)word;
    sms_unlock_shared(LOCK);
  }
  const double mine = now() - start;
  check(sum == 5 * (int64_t)count, "a word that nobody writes has changed");
  const double slowest = sms_reduce_double(mine, SMS_MAX);
  if (sms_rank == 0) printf("{\"microseconds\": %.4f}\n", 1e6 * slowest / count);
}

/* Microseconds from one signal to the next. */
static void condition(int count) {
  int64_t* const turn = sms_alloc(8, 1, 0);
  sms_barrier();
  const double start = now();
  if (sms_rank == 0 || sms_rank == sms_nprocs - 1)
    for (int i = 0; i < count; ++i) {
      const int odd = sms_rank != 0;
      sms_lock(LOCK);
      while (*turn % 2 != odd) sms_wait(odd, LOCK);
      ++*turn;
      sms_signal(!odd);
      sms_unlock(LOCK);
    }
  sms_barrier();
  const double seconds = now() - start;
  check(*turn == 2 * (int64_t)count, "a turn was lost");
  if (sms_rank == 0) printf("{\"microseconds\": %.4f}\n", 1e6 * seconds / count / 2);
}

/* Rank 0 writes, the last rank takes the lock and reads; the time of taking and reading, and of giving back. */
static void bring(int count, size_t mib) {
  const size_t words = mib << 20 >> 3;
  int64_t* const word = sms_alloc(8, 1, 0);
  int64_t* const data = sms_alloc(8, words + 1, 0);
  if (sms_rank == 0) memset(data, 1, words * 8);
  sms_barrier();
  const int taker = sms_rank == sms_nprocs - 1;
  int64_t sum = 0;
  for (size_t i = 0; taker && i < words; i += 512) sum += data[i] != 0;
  check(!taker || (size_t)sum == (words + 511) / 512, "the data is not there");
  double taking = 0, giving = 0;
  for (int i = 1; i <= count + 20; ++i) {
    if (sms_rank == 0) {
      sms_lock(LOCK);
      *word = i;
      sms_unlock(LOCK);
    }
    sms_reduce_int64(0, SMS_SUM);
    if (taker) {
      const double start = now();
      sms_lock(LOCK);
      const int64_t got = *(volatile int64_t*)word;
      const double middle = now();
      sms_unlock(LOCK);
      const double end = now();
      check(got == i, "the lock did not bring what was written under it");
      if (i > 20) taking += middle - start, giving += end - middle;
    }
    sms_reduce_int64(0, SMS_SUM);
  }
  taking = sms_reduce_double(taking, SMS_SUM), giving = sms_reduce_double(giving, SMS_SUM);
  if (sms_rank == 0)
    printf("{\"microseconds\": %.4f, \"microseconds to give back\": %.4f}\n", 1e6 * taking / count,
           1e6 * giving / count);
}

int main(int argc, char** argv) {
  const char* const wanted = argc > 1 ? argv[1] : "";
  const int count = argc > 2 ? atoi(argv[2]) : 10000;
  const size_t mib = argc > 3 ? (size_t)atol(argv[3]) : 32;
  sms_startup(&argc, &argv);
  if (strcmp(wanted, "contended") == 0) contended(count, 0);
  else if (strcmp(wanted, "cached") == 0) contended(count, mib);
  else if (strcmp(wanted, "uncontended") == 0) uncontended(count);
  else if (strcmp(wanted, "bring") == 0) bring(count, mib);
  else if (strcmp(wanted, "shared") == 0) shared(count);
  else if (strcmp(wanted, "condition") == 0 && sms_nprocs > 1) condition(count);
  else check(0, "usage: bench_locks contended|cached|uncontended|bring|shared|condition [TURNS [MIB]]");
  sms_shutdown();
  return 0;
}
