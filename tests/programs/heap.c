/* Random programs on the heap. A table of slots in a shared array holds pointers to objects. In each round every slot
 * belongs to one actor (a thread of a rank), or to whom its lock is given; the actor compares the object's contents
 * with what they must be by the slot, and then frees it, changes its size, writes it anew or leaves it; an empty slot
 * gets a new object by one of the calls, which may stay as it was allocated until the next round, when another rank
 * fills it. So objects are written, freed and resized by ranks other than those that have allocated them, and memory
 * goes around. At the end all objects are freed, and nothing is left.
 *
 *   heap [--seed N] [--seeds N] [--rounds N] [--slots N] [--threads N] [--packed 1]
 *
 * Packed: with option heap-pack, small objects have their home at another rank of the caller's node.
 */
#include <pthread.h>

#include "programs.h"

enum { LOCKS = 64, MAX_ACTOR_THREADS = 8 };

enum state { EMPTY, UNWRITTEN, ZERO, WRITTEN };

typedef struct slot {
  unsigned char* object;
  uint64_t bytes, pattern;
  int state, home;
} slot;

typedef struct settings {
  uint64_t seed;
  int seeds, rounds, slots, threads, packed;
} settings;

typedef struct actor {
  const settings* set;
  slot* slots;
  uint64_t seed;
  int round, number;
  int locked; /* of this round: slots are given by locks */
  int empty_all;
} actor;

static void fill(slot* s, uint64_t pattern) {
  s->pattern = pattern, s->state = WRITTEN;
  for (uint64_t i = 0; i < s->bytes; ++i)
    s->object[i] = (unsigned char)(pattern >> (i % 8 * 8)) ^ (unsigned char)(i >> 3);
}

static unsigned char expected(const slot* s, uint64_t i) {
  return s->state == ZERO ? 0 : (unsigned char)(s->pattern >> (i % 8 * 8)) ^ (unsigned char)(i >> 3);
}

static void check(const actor* a, int number, const slot* s, uint64_t bytes) {
  if (s->state == UNWRITTEN) return;
  for (uint64_t i = 0; i < bytes; ++i)
    if (s->object[i] != expected(s, i))
      fail("seed %llu, round %d, rank %d: slot %d, object %p of %llu bytes at home on rank %d: byte %llu is %d, not %d",
           (unsigned long long)a->seed, a->round, sms_rank, number, (void*)s->object, (unsigned long long)s->bytes,
           s->home, (unsigned long long)i, s->object[i], expected(s, i));
}

static uint64_t any_size(rng* r) {
  const uint64_t most[] = {16, 64, 256, 1024, 4096, 16384, 65536, 1 << 20};
  const int kind = rng_int(r, 100);
  const int at = kind < 90 ? rng_int(r, 5) : kind < 99 ? 5 + rng_int(r, 2) : 7;
  return rng_below(r, most[at]) + (rng_once_in(r, 40) ? 0 : 1);
}

static void allocate(const actor* a, rng* r, slot* s) {
  s->bytes = any_size(r), s->home = sms_rank, s->state = UNWRITTEN;
  size_t alignment = 1;
  switch (rng_int(r, 5)) {
    case 0: s->object = sms_calloc(1, s->bytes), s->state = ZERO; break;
    case 1:
      s->home = rng_int(r, sms_nprocs);
      s->object = sms_malloc_on(s->bytes, s->home);
      break;
    case 2:
      alignment = (size_t)1 << rng_int(r, 15);
      s->object = sms_aligned_alloc(alignment, s->bytes);
      break;
    case 3: s->object = sms_realloc(NULL, s->bytes); break;
    default: s->object = sms_malloc(s->bytes);
  }
  if ((uintptr_t)s->object % alignment != 0)
    fail("seed %llu: %p is not aligned to %zu", (unsigned long long)a->seed, (void*)s->object, alignment);
  if (a->set->packed && s->home == sms_rank) s->home = sms_home(s->object);
  if (sms_home(s->object) != s->home)
    fail("seed %llu: the home of %p is rank %d, not %d", (unsigned long long)a->seed, (void*)s->object,
         sms_home(s->object), s->home);
  if (!rng_once_in(r, 4)) fill(s, rng_next(r));
}

static void resize(const actor* a, rng* r, int number, slot* s) {
  const uint64_t before = s->bytes, after = any_size(r);
  s->object = sms_realloc(s->object, after);
  check(a, number, s, before < after ? before : after);
  s->bytes = after;
  if (sms_home(s->object) != s->home) fail("seed %llu: sms_realloc has moved a home", (unsigned long long)a->seed);
  fill(s, rng_next(r));
}

static void visit(const actor* a, rng* r, int number) {
  slot* const s = &a->slots[number];
  if (s->state != EMPTY) check(a, number, s, s->bytes);
  if (a->empty_all) {
    if (s->state != EMPTY) sms_mfree(s->object);
    s->state = EMPTY;
    return;
  }
  const int what = rng_int(r, 10);
  if (s->state == EMPTY) {
    if (what < 7) allocate(a, r, s);
  } else if (what < 4) {
    sms_mfree(s->object);
    s->state = EMPTY;
    if (what < 2) allocate(a, r, s);
  } else if (what < 6) {
    resize(a, r, number, s);
  } else if (what < 9 || s->state == UNWRITTEN) {
    fill(s, rng_next(r));
  }
}

static void* act(void* argument) {
  const actor* const a = argument;
  const int actors = sms_nprocs * a->set->threads, self = sms_rank * a->set->threads + a->number;
  rng r = {mix2(mix2(a->seed, (uint64_t)a->round), (uint64_t)self)};
  if (a->locked) {
    for (int n = 0; n < 1 + a->set->slots / actors; ++n) {
      const int lock = rng_int(&r, LOCKS);
      sms_lock(lock);
      for (int number = lock; number < a->set->slots; number += LOCKS)
        if (rng_once_in(&r, 4)) visit(a, &r, number);
      sms_unlock(lock);
    }
    return NULL;
  }
  for (int number = 0; number < a->set->slots; ++number)
    if ((int)(mix2(a->seed + (uint64_t)a->round, (uint64_t)number) % (uint64_t)actors) == self) visit(a, &r, number);
  return NULL;
}

static void round_of(actor* common, rng* program) {
  common->locked = !common->empty_all && rng_once_in(program, 3);
  pthread_t threads[MAX_ACTOR_THREADS];
  actor actors[MAX_ACTOR_THREADS];
  const int count = common->set->threads;
  for (int t = 0; t < count; ++t) {
    actors[t] = *common, actors[t].number = t;
    if (t > 0 && pthread_create(&threads[t], NULL, act, &actors[t]) != 0) fail("no thread");
  }
  act(&actors[0]);
  for (int t = 1; t < count; ++t) pthread_join(threads[t], NULL);
  if (rng_once_in(program, 2)) sms_barrier();
  else sms_sync_drop();
}

static void run(const settings* set, uint64_t seed) {
  rng program = {seed};
  actor common = {set, spread(set->slots, 1, sizeof(slot)), seed, 0, 0, 0, 0};
  for (; common.round < set->rounds; ++common.round) round_of(&common, &program);
  common.empty_all = 1;
  round_of(&common, &program);
  sms_free(common.slots);
  sms_barrier(); /* the last frees have arrived */
}

int main(int argc, char** argv) {
  settings set = {1, 1, 20, 400, 1, 0};
  sms_startup(&argc, &argv);
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) fail("%s needs a value", argv[i]);
    const char* const value = argv[i + 1];
    if (strcmp(argv[i], "--seed") == 0) set.seed = strtoull(value, NULL, 10);
    else if (strcmp(argv[i], "--seeds") == 0) set.seeds = (int)tries(atoi(value));
    else if (strcmp(argv[i], "--rounds") == 0) set.rounds = atoi(value);
    else if (strcmp(argv[i], "--slots") == 0) set.slots = atoi(value);
    else if (strcmp(argv[i], "--threads") == 0) set.threads = atoi(value);
    else if (strcmp(argv[i], "--packed") == 0) set.packed = atoi(value);
    else fail("unknown option %s", argv[i]);
  }
  if (set.threads < 1 || set.threads > MAX_ACTOR_THREADS) fail("1 to %d threads", MAX_ACTOR_THREADS);
  for (int n = 0; n < set.seeds; ++n) run(&set, set.seed + (uint64_t)n);
  sms_heap_statistics s;
  sms_heap_stats(&s);
  /* What threads keep for their next allocations is live for the allocator; and what option check keeps. */
  const char* const checks = getenv("HIROBA_CHECK");
  const uint64_t most = checks != NULL && strcmp(checks, "yes") == 0 ? 100 << 20 : 8 << 20;
  if (s.live_bytes > most) fail("rank %d: %llu bytes are live at the end", sms_rank, (unsigned long long)s.live_bytes);
  if (sms_rank == 0) printf("heap: %d programs\n", set.seeds);
  return sms_shutdown();
}
