/* Litmus tests of order: message passing, store buffering, independent reads of independent writes, coherence of one
 * location, and chains of synchronisations.
 */
#include <hiroba/collective.h>

#include "litmus.h"

/* ---- message passing ------------------------------------------------------------------------------------- */

/* The reader has seen the flag under the lock, so it must see the message, which was written outside it. There is no
 * barrier: the next writer waits until all have answered. */
void mp_lock(int rounds) {
  int64_t* message = message_create();
  int64_t *flag = word_on(0), *answers = word_on(1);
  for (int64_t i = 1; i <= rounds; ++i) {
    if (i % sms_nprocs == sms_rank) {
      message_write(message, i);
      write_locked(1, flag, i);
    } else {
      wait_locked(1, flag, i);
      message_check(message, i, "mp_lock");
      sms_lock(2);
      ++*answers;
      sms_unlock(2);
      if ((i + 1) % sms_nprocs == sms_rank) wait_locked(2, answers, i * (sms_nprocs - 1));
    }
  }
}

void mp_flag(int rounds) {
  int64_t* message = message_create();
  int64_t *flag = word_on(0), *answers = word_on(1);
  for (int64_t i = 1; i <= rounds; ++i) {
    if (i % sms_nprocs == sms_rank) {
      message_write(message, i);
      sms_sync();
      sms_atomic_store(flag, i);
    } else {
      wait_atomic(flag, i);
      sms_sync();
      message_check(message, i, "mp_flag");
      sms_fetch_add(answers, 1);
    }
    if ((i + 1) % sms_nprocs == sms_rank) wait_atomic(answers, i * (sms_nprocs - 1));
  }
}

/* Two messages in turn, so that one barrier a round is enough and copies stay cached over it. */
static void mp_collective(int rounds, void (*synchronise)(void), const char* test) {
  int64_t* message[2] = {message_create(), message_create()};
  for (int64_t i = 1; i <= rounds; ++i) {
    stagger((uint64_t)i);
    if (i % sms_nprocs == sms_rank) message_write(message[i & 1], i);
    synchronise();
    message_check(message[i & 1], i, test);
  }
}

void mp_barrier(int rounds) { mp_collective(rounds, sms_barrier, "mp_barrier"); }
void mp_drop(int rounds) { mp_collective(rounds, sms_sync_drop, "mp_drop"); }

static void barrier_of_all(void) { hiroba_barrier(HIROBA_ALL); }
void mp_all(int rounds) { mp_collective(rounds, barrier_of_all, "mp_all"); }

/* Pairs of neighbours synchronise, each rank with the one below and the one above in turn, so a message goes from one
 * end of the ranks to the other, and another one from there back in the next round. */
void mp_team(int rounds) {
  int64_t* message[2] = {message_create(), message_create()};
  hiroba_team pair[2];
  for (int odd = 0; odd < 2; ++odd) hiroba_team_split(HIROBA_ALL, (sms_rank + odd) / 2, sms_rank, &pair[odd]);
  for (int64_t i = 1; i <= rounds; ++i) {
    const int up = (int)(i & 1), from = up ? 0 : sms_nprocs - 1;
    stagger((uint64_t)i);
    if (sms_rank == from) message_write(message[up], i);
    for (int step = 0; step + 1 < sms_nprocs; ++step) {
      const int lower = up ? step : sms_nprocs - 2 - step; /* this rank and the next one synchronise */
      if (sms_rank != lower && sms_rank != lower + 1) continue;
      hiroba_barrier(pair[lower & 1]);
      message_check(message[up], i, "mp_team");
    }
  }
  for (int odd = 0; odd < 2; ++odd) hiroba_team_free(&pair[odd]);
}

/* ---- store buffering, independent reads ------------------------------------------------------------------ */

static int64_t read_atomic(int lock, const int64_t* at) { return (void)lock, sms_atomic_load(at); }
static void write_atomic(int lock, int64_t* at, int64_t value) { (void)lock, sms_atomic_store(at, value); }

typedef int64_t reader(int lock, const int64_t* at);
typedef void writer(int lock, int64_t* at, int64_t value);

/* Each writes its word and reads the other's: one of them must see the other. */
static void store_buffering(int rounds, reader* read, writer* write, const char* test) {
  int64_t* word[2] = {word_on(0), word_on(1)};
  for (int64_t i = 1; i <= rounds; ++i) {
    const int role = (int)((sms_rank + i) % sms_nprocs);
    int64_t seen = 0;
    stagger((uint64_t)i);
    if (role < 2) {
      write(10 + role, word[role], i);
      seen = read(11 - role, word[1 - role]) == i;
    }
    if (sms_reduce_int64(seen, SMS_SUM) == 0)
      fail("litmus %s, round %ld: both ranks read the other's word before it was written", test, i);
  }
}

void sb_lock(int rounds) { store_buffering(rounds, read_locked, write_locked, "sb_lock"); }
void sb_atomic(int rounds) { store_buffering(rounds, read_atomic, write_atomic, "sb_atomic"); }

/* Two readers may not see two writes in opposite orders. */
static void independent_reads(int rounds, reader* read, writer* write, const char* test) {
  int64_t* word[2] = {word_on(0), word_on(2)};
  for (int64_t i = 1; i <= rounds; ++i) {
    const int role = (int)((sms_rank + i) % sms_nprocs);
    int64_t first_only = 0;
    stagger((uint64_t)i);
    if (role < 2) write(20 + role, word[role], i);
    if (role == 2 || role == 3) {
      const int a = role - 2;
      const int64_t one = read(20 + a, word[a]);
      first_only = one == i && read(21 - a, word[1 - a]) != i;
    }
    if (sms_reduce_int64(first_only, SMS_SUM) == 2)
      fail("litmus %s, round %ld: two readers saw two writes in opposite orders", test, i);
  }
}

void iriw_lock(int rounds) { independent_reads(rounds, read_locked, write_locked, "iriw_lock"); }
void iriw_atomic(int rounds) { independent_reads(rounds, read_atomic, write_atomic, "iriw_atomic"); }

/* Over a barrier, everybody sees both, in whatever order it looks. */
void iriw_barrier(int rounds) {
  int64_t* word[2][2] = {{word_on(0), word_on(1)}, {word_on(2), word_on(3)}};
  for (int64_t i = 1; i <= rounds; ++i) {
    const int role = (int)((sms_rank + i) % sms_nprocs);
    int64_t** w = word[i & 1];
    if (role < 2) *w[role] = i;
    if ((i & 2) != 0) sms_barrier();
    else sms_sync_drop();
    const int64_t one = *w[role & 1], two = *w[1 - (role & 1)];
    if (one != i || two != i) fail("litmus iriw_barrier, round %ld, rank %d: read %ld and %ld", i, sms_rank, one, two);
  }
}

/* ---- one location ---------------------------------------------------------------------------------------- */

/* It only grows, so nobody may see it shrink; and no addition is lost. */
void coherence_lock(int rounds) {
  int64_t* word = word_on(1);
  int64_t last = 0, added = 0;
  for (int i = 0; i < rounds; ++i) {
    stagger((uint64_t)i);
    sms_lock(30);
    const int64_t now = *word;
    if (now < last) fail("litmus coherence_lock, round %d, rank %d: read %ld after %ld", i, sms_rank, now, last);
    last = now;
    if ((i + sms_rank) % 3 != 0) *word = ++last, ++added;
    sms_unlock(30);
  }
  const int64_t total = sms_reduce_int64(added, SMS_SUM);
  sms_barrier();
  if (*word != total)
    fail("litmus coherence_lock, rank %d: %ld of %ld additions under a lock arrived", sms_rank, *word, total);
}

/* Tickets: each number once. */
void coherence_atomic(int rounds) {
  int64_t* wide = word_on(1);
  int32_t* narrow = (int32_t*)word_on(0) + 1;
  int64_t last = -1;
  uint64_t sum = 0, squares = 0;
  int32_t last_narrow = -1;
  for (int i = 0; i < rounds; ++i) {
    const int64_t now = sms_fetch_add(wide, 1);
    const int32_t now_narrow = sms_fetch_add32(narrow, 1);
    if (now <= last || now_narrow <= last_narrow || sms_atomic_load(wide) <= now)
      fail("litmus coherence_atomic, round %d, rank %d: %ld, %d after %ld, %d", i, sms_rank, now, now_narrow, last,
           last_narrow);
    last = now, last_narrow = now_narrow;
    sum += (uint64_t)now, squares += (uint64_t)now * (uint64_t)now;
  }
  const uint64_t all = (uint64_t)sms_nprocs * (uint64_t)rounds;
  sum = (uint64_t)sms_reduce_int64((int64_t)sum, SMS_SUM);
  squares = (uint64_t)sms_reduce_int64((int64_t)squares, SMS_SUM);
  if (sum != all * (all - 1) / 2 || squares != (all - 1) * all * (2 * all - 1) / 6)
    fail("litmus coherence_atomic: the %lu tickets of a fetch_add are not 0 .. %lu", all, all - 1);
  sms_barrier();
  if (*wide != (int64_t)all || *narrow != (int32_t)all)
    fail("litmus coherence_atomic, rank %d: after the barrier the words are %ld and %d, expected %lu", sms_rank, *wide,
         *narrow, all);
}

/* Atomics of one rank, plain reads of all after the barrier; copies from before stay cached until then. */
void atomic_then_read(int rounds) {
  int64_t* words = spread(MESSAGE_WORDS * MESSAGE_APART, 1, sizeof(int64_t));
  for (int64_t i = 1; i <= rounds; ++i) {
    if (i % sms_nprocs == sms_rank)
      for (int k = 0; k < MESSAGE_WORDS; ++k) sms_fetch_add(&words[k * MESSAGE_APART], k);
    sms_barrier();
    for (int k = 0; k < MESSAGE_WORDS; ++k)
      if (words[k * MESSAGE_APART] != i * k)
        fail("litmus atomic_then_read, round %ld, rank %d: word %d (home rank %d) is %ld, expected %ld", i, sms_rank, k,
             sms_home(&words[k * MESSAGE_APART]), words[k * MESSAGE_APART], i * k);
    sms_barrier();
  }
}

/* ---- chains ---------------------------------------------------------------------------------------------- */

/* The first writes a message, and word goes from rank to rank, each time through another lock; the last, who shared
 * no lock with the first, must see the message. */
void chain_lock(int rounds) {
  int64_t* message = message_create();
  int64_t* step = spread(sms_nprocs, 600, sizeof(int64_t));
  for (int64_t i = 1; i <= rounds; ++i) {
    const int role = (int)((sms_rank + i) % sms_nprocs);
    if (i > 1) message_check(message, i - 1, "chain_lock, before"); /* so that an old copy is cached */
    sms_barrier();
    if (role == 0) message_write(message, i);
    if (role > 0) wait_locked(40 + role - 1, &step[(role - 1) * 600], i);
    if (role == sms_nprocs - 1) message_check(message, i, "chain_lock");
    write_locked(40 + role, &step[role * 600], i);
    sms_barrier();
  }
}

void chain_flag(int rounds) {
  int64_t* message = message_create();
  int64_t* step = spread(sms_nprocs, 600, sizeof(int64_t));
  for (int64_t i = 1; i <= rounds; ++i) {
    const int role = (int)((sms_rank + i) % sms_nprocs);
    if (role == 0) message_write(message, i);
    if (role > 0) wait_atomic(&step[(role - 1) * 600], i);
    sms_sync();
    if (role == sms_nprocs - 1) message_check(message, i, "chain_flag");
    sms_atomic_store(&step[role * 600], i);
    wait_atomic(&step[(sms_nprocs - 1) * 600], i); /* the next first writes only then */
    sms_sync();
  }
}

/* As chain_lock without barriers in a round: links are locks and flags in turn, and in some rounds a barrier of either
 * kind lies before it, between its halves or not. Every rank keeps copies of the message from round to round. */
void chain_mixed(int rounds) {
  int64_t* message = message_create();
  int64_t* step = spread(sms_nprocs, 600, sizeof(int64_t));
  for (int64_t i = 1; i <= rounds; ++i) {
    const int role = (int)((sms_rank + i) % sms_nprocs), last = sms_nprocs - 1;
    if (i % 7 == 0) sms_barrier();
    if (i % 11 == 0) sms_sync_drop();
    if (role == 0) message_write(message, i);
    if (role > 0) {
      if ((role + i) % 2 == 0) wait_locked(40 + role - 1, &step[(role - 1) * 600], i);
      else wait_atomic(&step[(role - 1) * 600], i), sms_sync();
      message_check(message, i, "chain_mixed");
    }
    sms_lock(40 + role);
    sms_sync();
    sms_atomic_store(&step[role * 600], i);
    sms_unlock(40 + role);
    wait_locked(40 + last, &step[last * 600], i); /* the next first writes only then */
  }
}

/* Rank 0 releases more runs of pages than its node's log holds, 32 at a time, while the others, who have copies,
 * acquire nothing. */
void log_overflow(int rounds) {
  enum { RUNS = 32, PAGES = 2 * RUNS, INTERVALS = 2100, WORDS_PER_PAGE = PAGE / 8 };
  int64_t* data = spread(sms_nprocs, PAGES * WORDS_PER_PAGE, sizeof(int64_t));
  int64_t* far = data + (int64_t)(sms_nprocs - 1) * PAGES * WORDS_PER_PAGE;
  int64_t* turn = word_on(0);
  for (int64_t i = 1; i <= rounds; ++i) {
    for (int p = 0; p < PAGES; ++p) /* copies */
      if (far[p * WORDS_PER_PAGE + sms_nprocs] != 0) fail("litmus log_overflow: a word that nobody writes has changed");
    sms_barrier();
    if (sms_rank == 0) {
      for (int n = 0; n < INTERVALS; ++n) {
        sms_lock(50);
        for (int run = 0; run < RUNS; ++run) far[2 * run * WORDS_PER_PAGE] = i * INTERVALS + n;
        sms_unlock(50);
      }
      sms_atomic_store(turn, i);
    } else {
      wait_atomic(turn, i);
      sms_lock(50);
      for (int run = 0; run < RUNS; ++run)
        if (far[2 * run * WORDS_PER_PAGE] != (i + 1) * INTERVALS - 1)
          fail("litmus log_overflow, round %ld, rank %d: an old value", i, sms_rank);
      sms_unlock(50);
    }
    sms_barrier();
  }
}

/* Copies that releases have found unwritten for some time are passed over; a write to one must be found all the same,
 * whatever page it is in, and copies that are refreshed in place keep what this rank has written beside. */
void closed_copies(int rounds) {
  enum { PAGES = 1100, WORDS_PER_PAGE = PAGE / 8, QUIET = 8 };
  int64_t* data = spread(sms_nprocs, PAGES * WORDS_PER_PAGE, sizeof(int64_t));
  for (int64_t i = 1; i <= rounds; ++i) {
    for (int r = 0; r < sms_nprocs; ++r) /* copies of everything */
      for (int p = 0; p < PAGES; p += 1 + (int)(mix2((uint64_t)i, (uint64_t)p) % 4))
        if (data[((int64_t)r * PAGES + p) * WORDS_PER_PAGE + 100] != 0)
          fail("litmus closed_copies: a word that nobody writes has changed");
    for (int n = 0; n < QUIET; ++n) sms_lock(60 + sms_rank), sms_unlock(60 + sms_rank);
    const int64_t page = (int64_t)(mix2((uint64_t)i, 5) % (uint64_t)(PAGES * sms_nprocs));
    int64_t* words = data + page * WORDS_PER_PAGE; /* one for each rank, in one page */
    words[sms_rank] = i;                           /* not under a lock: the release that follows publishes it */
    for (int turn = 0; turn < 3; ++turn) {
      sms_lock(59);
      words[sms_nprocs] += 1;
      words[sms_nprocs + 1 + sms_rank] = words[sms_nprocs];
      sms_unlock(59);
    }
    sms_barrier();
    for (int r = 0; r < sms_nprocs; ++r)
      if (words[r] != i)
        fail("litmus closed_copies, round %ld, rank %d: rank %d's word is %ld", i, sms_rank, r, words[r]);
    if (words[sms_nprocs] % (3 * sms_nprocs) != 0)
      fail("litmus closed_copies, round %ld, rank %d: %ld additions", i, sms_rank, words[sms_nprocs]);
    sms_barrier();
  }
}
