/* Litmus tests of bytes that share a page: written by several ranks, several threads, never read before, evicted,
 * or fetched ahead of time.
 */
#include <pthread.h>

#include "litmus.h"

enum { PAGES = 3, BYTES = PAGES * PAGE - 37 };

static unsigned char* pages_create(void) { return spread(BYTES, 1, 1); }

/* In each round another interleaving: single bytes, words, lines, odd runs. */
static int owner_of(int64_t round, int byte) {
  static const int grains[] = {1, 2, 3, 4, 8, 13, 64, 1000};
  return (int)((byte / grains[round & 7] + round) % sms_nprocs);
}

static unsigned char value_of(int64_t round, int byte) { return (unsigned char)mix2((uint64_t)round, (uint64_t)byte); }

static void write_own(unsigned char* bytes, int64_t round) {
  for (int b = 0; b < BYTES; ++b)
    if (owner_of(round, b) == sms_rank) bytes[b] = value_of(round, b);
}

static void check_byte(const unsigned char* bytes, int b, unsigned char want, int64_t round, const char* test) {
  if (bytes[b] != want)
    fail("litmus %s, round %ld, rank %d: byte %d, written by rank %d, home rank %d, is %u, expected %u", test, round,
         sms_rank, b, owner_of(round, b), sms_home(bytes + b), bytes[b], want);
}

static void check_all(const unsigned char* bytes, int64_t round, const char* test) {
  for (int b = 0; b < BYTES; ++b) check_byte(bytes, b, value_of(round, b), round, test);
}

/* ---- false sharing --------------------------------------------------------------------------------------- */

static void share(int rounds, void (*synchronise)(void), const char* test) {
  unsigned char* bytes = pages_create();
  for (int64_t i = 1; i <= rounds; ++i) {
    write_own(bytes, i);
    synchronise();
    check_all(bytes, i, test);
    synchronise();
  }
}

void share_barrier(int rounds) { share(rounds, sms_barrier, "share_barrier"); }
void share_drop(int rounds) { share(rounds, sms_sync_drop, "share_drop"); }

static void halves(void) {
  sms_sync_drop_start();
  sms_sync_drop_wait();
}
void share_halves(int rounds) { share(rounds, halves, "share_halves"); }

/* Between the halves a rank reads what it has written itself, of pages that it has just forgotten; it preloads them in
 * every round, so they may be asked for ahead: nobody may wait there for a home that waits likewise. */
void own_between(int rounds) {
  unsigned char* bytes = pages_create();
  const sms_range all[] = {{0, BYTES, 1}, {0, 1, 1}};
  for (int64_t i = 1; i <= rounds; ++i) {
    sms_preload(bytes, all);
    write_own(bytes, i);
    sms_sync_drop_start();
    for (int b = 0; b < BYTES; ++b)
      if (owner_of(i, b) == sms_rank) check_byte(bytes, b, value_of(i, b), i, "own_between");
    sms_sync_drop_wait();
    check_all(bytes, i, "own_between");
    sms_barrier();
  }
}

/* The ranks take turns under a lock; whoever is before in the round has written its bytes, the others not yet. */
void share_lock(int rounds) {
  unsigned char* bytes = pages_create();
  int64_t* turn = word_on(1);
  for (int b = 0; b < BYTES; ++b)
    if (owner_of(0, b) == sms_rank) bytes[b] = value_of(0, b);
  sms_barrier();
  for (int64_t i = 1; i <= rounds; ++i) {
    for (int looks = 0, done = 0; !done; ++looks) {
      sms_lock(50);
      done = *turn == (i - 1) * sms_nprocs + sms_rank;
      for (int b = 0; done && b < BYTES; b += 1 + b % 5)
        check_byte(bytes, b, value_of(owner_of(i, b) < sms_rank ? i : i - 1, b), i, "share_lock");
      if (done) write_own(bytes, i), ++*turn;
      sms_unlock(50);
      if (!done) pause_between_looks(looks);
    }
  }
}

/* While all write, they take and give locks and synchronise, so pages are sent home again and again, half written. */
void share_churn(int rounds) {
  unsigned char* bytes = pages_create();
  int64_t* words = sms_alloc(sizeof(int64_t), 4, 0);
  for (int64_t i = 1; i <= rounds; ++i) {
    rng r = {mix2((uint64_t)i, (uint64_t)sms_rank)};
    for (int b = 0; b < BYTES; ++b) {
      if (owner_of(i, b) != sms_rank) continue;
      bytes[b] = (unsigned char)~value_of(i, b);
      if (rng_once_in(&r, 2000)) write_locked(60 + (int)(i & 3), &words[i & 3], i);
      if (rng_once_in(&r, 2000)) sms_sync();
      bytes[b] = value_of(i, b);
    }
    sms_barrier();
    check_all(bytes, i, "share_churn");
    sms_barrier();
  }
}

/* ---- pages of which every byte changes --------------------------------------------------------------------- */

enum { RUN_PAGES = 300 };

/* Runs of pages from one to some dozens have a writer each; of some pages it leaves a byte to the next rank. */
static void write_runs(unsigned char* bytes, int64_t round) {
  for (int page = 0, run = 0; page < RUN_PAGES; ++run) {
    const uint64_t hash = mix2((uint64_t)round, (uint64_t)run);
    const int pages = 1 + (int)(hash % ((hash >> 32 & 1) != 0 ? 50 : 5)),
              writer = (int)((hash >> 40) % (uint64_t)sms_nprocs);
    for (int end = page + pages; page < end && page < RUN_PAGES; ++page) {
      const int other = mix2(hash, (uint64_t)page) % 8 == 0 ? (int)(hash >> 20 & 4095) : -1;
      for (int b = 0; b < PAGE; ++b)
        if ((b == other ? (writer + 1) % sms_nprocs : writer) == sms_rank)
          bytes[page * PAGE + b] = (unsigned char)(round * 37 + page * 11 + b);
    }
  }
}

/* Homes begin and end within runs. */
void whole_runs(int rounds) {
  unsigned char* bytes = spread(RUN_PAGES, PAGE, 1);
  for (int64_t i = 1; i <= rounds; ++i) {
    write_runs(bytes, i);
    if (i % 2 != 0) sms_barrier();
    else sms_sync_drop();
    for (int b = 0; b < RUN_PAGES * PAGE; ++b)
      if (bytes[b] != (unsigned char)(i * 37 + b / PAGE * 11 + b % PAGE))
        fail("litmus whole_runs, round %ld, rank %d: byte %d of page %d, home rank %d, is %u, expected %u", i, sms_rank,
             b % PAGE, b / PAGE, sms_home(bytes + b), bytes[b], (unsigned char)(i * 37 + b / PAGE * 11 + b % PAGE));
    sms_barrier();
  }
}

/* ---- writes without reads, and back to an earlier value -------------------------------------------------- */

/* Nothing is cached, and the first access to a page is a write: of one byte, of some, or of all. */
void blind_write(int rounds) {
  unsigned char* bytes = spread(PAGES * 4 * PAGE, 1, 1);
  unsigned char* model = calloc(1, PAGES * 4 * PAGE);
  for (int64_t i = 1; i <= rounds; ++i) {
    sms_sync_drop();
    for (int page = 0; page < PAGES * 4; ++page) {
      const uint64_t hash = mix2((uint64_t)i, (uint64_t)page);
      const size_t lengths[] = {1, 8, 1 + hash % PAGE, PAGE};
      const size_t length = lengths[hash >> 60 & 3], from = (hash >> 20) % (PAGE - length + 1);
      if ((int)(hash >> 40) % sms_nprocs == sms_rank) memset(bytes + page * PAGE + from, (int)(hash & 255), length);
      memset(model + page * PAGE + from, (int)(hash & 255), length);
    }
    if ((i & 1) != 0) sms_barrier();
    else sms_sync_drop();
    if (memcmp(bytes, model, PAGES * 4 * PAGE) != 0)
      for (int b = 0; b < PAGES * 4 * PAGE; ++b)
        if (bytes[b] != model[b])
          fail("litmus blind_write, round %ld, rank %d: byte %d is %u, expected %u", i, sms_rank, b, bytes[b],
               model[b]);
  }
  free(model);
}

/* Words that go to and fro between 0 and 1, in the hands of one rank after the other: an unmodified copy that is too
 * old makes a change look like none. */
void toggle(int rounds) {
  enum { WORDS = 16 };
  int64_t* words = sms_alloc(sizeof(int64_t), WORDS, 1 % sms_nprocs);
  int64_t* turn = word_on(0);
  for (int64_t i = sms_rank; i < rounds; i += sms_nprocs) {
    wait_atomic(turn, i);
    sms_sync();
    for (int k = 0; k < WORDS; ++k) {
      const int64_t want = i == 0 ? 0 : (int64_t)(mix2((uint64_t)i - 1, (uint64_t)k) & 1);
      if (words[k] != want)
        fail("litmus toggle, round %ld, rank %d: word %d is %ld, expected %ld", i, sms_rank, k, words[k], want);
    }
    for (int step = 3; step >= 0; --step) {
      for (int k = 0; k < WORDS; ++k) words[k] = (int64_t)(mix2((uint64_t)i, (uint64_t)k) >> step & 1);
      sms_sync();
    }
    sms_atomic_store(turn, i + 1);
  }
}

/* ---- releases on the side -------------------------------------------------------------------------------- */

typedef struct releasing {
  int stop;
  int64_t* word;
} releasing;

static void* release_again_and_again(void* argument) {
  releasing* r = argument;
  for (int64_t i = 0; !__atomic_load_n(&r->stop, __ATOMIC_ACQUIRE); ++i)
    if ((i & 3) != 0) sms_sync();
    else write_locked(80 + sms_rank, r->word, i), pause_between_looks(50);
  return NULL;
}

/* ---- counters -------------------------------------------------------------------------------------------- */

static void take(int id) { sms_lock(id); }
static void give(int id) { sms_unlock(id); }
static void take_trying(int id) {
  for (int looks = 0; !sms_trylock(id); ++looks) pause_between_looks(looks);
}

static int64_t* swap_word; /* a lock made of a compare_swap, as sms_sync is there for */
static void take_swap(int id) {
  (void)id;
  for (int looks = 0; sms_compare_swap(swap_word, 0, 1) != 0; ++looks) pause_between_looks(looks);
  sms_sync();
}
static void give_swap(int id) {
  (void)id;
  sms_sync();
  sms_atomic_store(swap_word, 0);
}

typedef struct counting {
  int64_t* words;
  int rounds;
  void (*take)(int id);
  void (*give)(int id);
  const char* test;
} counting;

enum { COUNTERS = 5, COUNTER_APART = 300 };

static void* count(void* argument) {
  const counting* c = argument;
  for (int i = 0; i < c->rounds; ++i) {
    c->take(70);
    for (int k = 1; k < COUNTERS; ++k)
      if (c->words[k * COUNTER_APART] != c->words[0])
        fail("litmus %s, round %d, rank %d: counter %d is %ld, counter 0 is %ld", c->test, i, sms_rank, k,
             c->words[k * COUNTER_APART], c->words[0]);
    for (int k = 0; k < COUNTERS; ++k) ++c->words[k * COUNTER_APART];
    c->give(70);
  }
  return NULL;
}

/* Two threads of each rank add to counters on several pages; a third one, if `beside`, does other things. */
static void count_together(int rounds, void (*take)(int), void (*give)(int), releasing* beside, const char* test) {
  counting c = {NULL, rounds, take, give, test};
  c.words = spread(COUNTERS * COUNTER_APART, 1, sizeof(int64_t));
  pthread_t other, third;
  if (pthread_create(&other, NULL, count, &c) != 0) fail("cannot start a thread");
  if (beside != NULL && pthread_create(&third, NULL, release_again_and_again, beside) != 0)
    fail("cannot start a thread");
  count(&c);
  pthread_join(other, NULL);
  if (beside != NULL) {
    __atomic_store_n(&beside->stop, 1, __ATOMIC_RELEASE);
    pthread_join(third, NULL);
  }
  sms_barrier();
  for (int k = 0; k < COUNTERS; ++k)
    if (c.words[k * COUNTER_APART] != (int64_t)2 * rounds * sms_nprocs)
      fail("litmus %s, rank %d: counter %d is %ld, expected %ld", test, sms_rank, k, c.words[k * COUNTER_APART],
           (int64_t)2 * rounds * sms_nprocs);
}

void counter_lock(int rounds) { count_together(rounds, take, give, NULL, "counter_lock"); }
void counter_trylock(int rounds) { count_together(rounds, take_trying, give, NULL, "counter_trylock"); }
void counter_swap(int rounds) {
  swap_word = word_on(1);
  count_together(rounds, take_swap, give_swap, NULL, "counter_swap");
}

/* The same beside a thread that releases and acquires all the time: what it takes in hand to send home must be home
 * before another thread of the rank gives its lock away. */
void counter_busy(int rounds) {
  int64_t* words = spread(sms_nprocs, 1, sizeof(int64_t));
  releasing beside = {0, words + sms_rank};
  count_together(rounds, take, give, &beside, "counter_busy");
}

/* ---- eviction, threads, preload -------------------------------------------------------------------------- */

/* Each rank writes a byte of every page of 4 MiB, more than a small cache holds, forwards and backwards. */
void evict(int rounds) {
  enum { MANY = 1024 };
  unsigned char* bytes = spread(MANY, PAGE, 1);
  for (int64_t i = 1; i <= rounds; ++i) {
    for (int k = 0; k < MANY; ++k) {
      const int page = (i & 1) != 0 ? k : MANY - 1 - k;
      bytes[page * PAGE + sms_rank * 5] = (unsigned char)(i + page + sms_rank);
    }
    if ((i & 2) != 0) sms_barrier();
    else sms_sync_drop();
    for (int page = 0; page < MANY; ++page)
      for (int r = 0; r < sms_nprocs; ++r)
        if (bytes[page * PAGE + r * 5] != (unsigned char)(i + page + r))
          fail("litmus evict, round %ld, rank %d: page %d, byte of rank %d is %u, expected %u", i, sms_rank, page, r,
               bytes[page * PAGE + r * 5], (unsigned char)(i + page + r));
    sms_barrier();
  }
}

/* Arrays large enough for huge pages, at home and in the cache, which come into use while pages are being tracked:
 * every rank writes a byte of every page of its own part and of some pages of everybody's. */
void huge_pages(int rounds) {
  enum { PART = 1280 };
  const int many = PART * sms_nprocs;
  unsigned char* bytes = spread(many, PAGE, 1);
  for (int64_t i = 1; i <= rounds; ++i) {
    for (int page = 0; page < many; ++page)
      if (sms_home(bytes + page * PAGE) == sms_rank || (page + i) % 7 == 0)
        bytes[page * PAGE + 1 + sms_rank] = (unsigned char)(i + page + sms_rank);
    if (i % 3 == 0) sms_sync_drop();
    else sms_barrier();
    for (int page = 0; page < many; ++page)
      for (int r = 0; r < sms_nprocs; ++r)
        if ((sms_home(bytes + page * PAGE) == r || (page + i) % 7 == 0) &&
            bytes[page * PAGE + 1 + r] != (unsigned char)(i + page + r))
          fail("litmus huge_pages, round %ld, rank %d: page %d, byte of rank %d is %u, expected %u", i, sms_rank, page,
               r, bytes[page * PAGE + 1 + r], (unsigned char)(i + page + r));
    sms_barrier();
  }
}

typedef struct old_pages {
  const volatile int64_t* words; /* one per page, all set to the round by rank 0 */
  const volatile unsigned char* crowd;
  int64_t round;
} old_pages;

enum { OLD = 48, CROWD = 512 };

static void* crowd_out(void* argument) {
  const old_pages* o = argument;
  unsigned sum = 0;
  for (int page = 0; page < CROWD; ++page) sum += o->crowd[page * PAGE];
  if (sum != 0) fail("litmus stale_eviction: a byte that nobody writes is not 0");
  return NULL;
}

/* While one thread's fetches evict pages that are out of date, another reads them: it must never see the old bytes.
 * Once, taking such a page away made it readable for a moment. */
void stale_eviction(int rounds) {
  int64_t* words = sms_alloc(PAGE, OLD, 0);
  const unsigned char* crowd = sms_alloc(PAGE, CROWD, 0);
  for (int64_t i = 1; i <= rounds; ++i) {
    if (sms_rank == 0)
      for (int page = 0; page < OLD; ++page) words[page * (PAGE / 8)] = i;
    sms_barrier(); /* what others have of these pages is out of date now */
    old_pages o = {words, crowd, i};
    pthread_t crowding;
    if (pthread_create(&crowding, NULL, crowd_out, &o) != 0) fail("cannot start a thread");
    for (int k = 0; k < OLD; ++k) {
      const int page = (int)((k * 29 + i) % OLD);
      const int64_t seen = o.words[page * (PAGE / 8)];
      if (seen != i) fail("litmus stale_eviction, round %ld, rank %d: page %d has %ld", i, sms_rank, page, seen);
    }
    pthread_join(crowding, NULL);
    for (int page = 0; page < OLD; ++page) (void)o.words[page * (PAGE / 8)];
    sms_barrier();
  }
}

enum { WRITERS = 3 };

typedef struct writing {
  unsigned char* bytes;
  int64_t round;
  int number;
} writing;

static void* write_part(void* argument) {
  const writing* w = argument;
  for (int again = 2; again >= 0; --again)
    for (int b = 0; b < BYTES; ++b) {
      if (owner_of(w->round, b) != sms_rank || (b + b / 5) % WRITERS != w->number) continue;
      volatile unsigned char* byte = w->bytes + b;
      const unsigned char value = (unsigned char)(value_of(w->round, b) + again);
      *byte = value;
      if (*byte != value)
        fail("litmus thread_release, round %ld, rank %d: byte %d is lost at once", w->round, sms_rank, b);
    }
  return NULL;
}

/* One thread of a rank releases and acquires all the time, while others write to the same pages: no write may fall
 * between a page's comparison with its twin and its becoming clean, or between two threads that fetch the page. */
void thread_release(int rounds) {
  unsigned char* bytes = pages_create();
  int64_t* words = sms_alloc(sizeof(int64_t), (size_t)sms_nprocs, 0);
  for (int64_t i = 1; i <= rounds; ++i) {
    releasing r = {0, words + sms_rank};
    pthread_t releaser, writer[WRITERS];
    writing parts[WRITERS];
    if (pthread_create(&releaser, NULL, release_again_and_again, &r) != 0) fail("cannot start a thread");
    for (int w = 0; w < WRITERS; ++w) {
      parts[w] = (writing){bytes, i, w};
      if (pthread_create(&writer[w], NULL, write_part, &parts[w]) != 0) fail("cannot start a thread");
    }
    for (int w = 0; w < WRITERS; ++w) pthread_join(writer[w], NULL);
    __atomic_store_n(&r.stop, 1, __ATOMIC_RELEASE);
    pthread_join(releaser, NULL);
    sms_barrier();
    check_all(bytes, i, "thread_release");
    sms_barrier();
  }
}

enum { NEIGHBOURS = 2, MESSAGE_PAGES = 24 };

typedef struct fetching {
  const int64_t* message;
  int stop;
} fetching;

/* Words that nobody writes, on the pages of the message. */
static void* fetch_again_and_again(void* argument) {
  fetching* f = argument;
  for (int64_t i = 0; !__atomic_load_n(&f->stop, __ATOMIC_ACQUIRE); ++i) {
    for (int page = 0; page < MESSAGE_PAGES; ++page)
      if (f->message[page * (PAGE / 8) + 1] != 0) fail("litmus acquire_beside: a word that nobody writes is not 0");
    if ((i & 3) == 0) sms_sync();
  }
  return NULL;
}

/* Message passing to one thread of a rank, while others fetch the same pages all the time: a page that was on its way
 * here before the acquire must not be taken for new after it. */
void acquire_beside(int rounds) {
  const int producer = sms_nprocs - 1;
  int64_t* message = sms_alloc(PAGE, MESSAGE_PAGES, producer);
  int64_t *flag = word_on(producer), *answers = word_on(producer);
  fetching f = {message, 0};
  pthread_t beside[NEIGHBOURS];
  for (int t = 0; t < NEIGHBOURS; ++t)
    if (pthread_create(&beside[t], NULL, fetch_again_and_again, &f) != 0) fail("cannot start a thread");
  for (int64_t i = 1; i <= rounds; ++i) {
    if (sms_rank == producer) {
      wait_atomic(answers, (i - 1) * (sms_nprocs - 1));
      for (int page = 0; page < MESSAGE_PAGES; ++page) message[page * (PAGE / 8)] = i;
      sms_sync();
      sms_atomic_store(flag, i);
      continue;
    }
    wait_atomic(flag, i);
    sms_sync();
    for (int page = 0; page < MESSAGE_PAGES; ++page)
      if (message[page * (PAGE / 8)] != i)
        fail("litmus acquire_beside, round %ld, rank %d: page %d has %ld", i, sms_rank, page,
             message[page * (PAGE / 8)]);
    sms_fetch_add(answers, 1);
  }
  __atomic_store_n(&f.stop, 1, __ATOMIC_RELEASE);
  for (int t = 0; t < NEIGHBOURS; ++t) pthread_join(beside[t], NULL);
}

/* Copies stay where they are, written ones too, and are renewed there: by any mixture of synchronisations. */
void renew(int rounds) {
  unsigned char* bytes = pages_create();
  const sms_range all[] = {{0, BYTES, 1}, {0, 1, 1}};
  sms_promise_preload(bytes);
  for (int64_t i = 1; i <= rounds; ++i) {
    sms_preload(bytes, all);
    const int64_t last = i % 3 == 2 ? i - 1 : i; /* in every third round nobody writes */
    if (last == i) write_own(bytes, i);
    if ((i & 3) == 0) sms_barrier();
    else if ((i & 3) == 1) halves();
    else sms_sync_drop();
    sms_preload(bytes, all);
    check_all(bytes, last, "renew");
    if ((i & 4) != 0) sms_sync_drop();
    else sms_barrier();
  }
}

/* Data asked for before a barrier may arrive after it; then it must be new. */
void preload_stale(int rounds) {
  unsigned char* bytes = pages_create();
  for (int64_t i = 1; i <= rounds; ++i) {
    const sms_range all[] = {{0, BYTES, 1}, {0, 1, 1}};
    sms_request request = sms_preload_start(bytes, all);
    write_own(bytes, i);
    if ((i & 4) != 0) sms_preload_wait(&request);
    if ((i & 2) != 0) sms_barrier();
    else sms_sync_drop();
    if ((i & 1) != 0) sms_preload_bytes(bytes + i % BYTES, 1);
    check_all(bytes, i, "preload_stale");
    sms_barrier();
  }
}
