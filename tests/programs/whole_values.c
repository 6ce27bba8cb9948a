/* Values that ranks store to one element at a time: one of them remains, and never bytes of several; and what is no
 * value as a whole stays exact to the byte. Of values of 2, 4 and 8 bytes, with barriers, locks and flags.
 *
 *   whole_values [--rounds N] [--seed S] */
#include "programs.h"

enum { VALUES = 1500 };

static int64_t* flags; /* of each rank, on its node */

static uint64_t value_at(const void* array, size_t bytes, int i) {
  uint64_t value = 0;
  memcpy(&value, (const char*)array + (size_t)i * bytes, bytes);
  return value;
}

/* In one store. */
static void store(void* array, size_t bytes, int i, uint64_t value) {
  switch (bytes) {
    case 2: ((volatile uint16_t*)array)[i] = (uint16_t)value; break;
    case 4: ((volatile uint32_t*)array)[i] = (uint32_t)value; break;
    default: ((volatile uint64_t*)array)[i] = value;
  }
}

/* Whether a rank stores to an element in a round, and what: bytes that are 1 or 2, so most are those that were there.
 */
static int stores(uint64_t seed, int rank, int i) {
  return mix2(seed + (uint64_t)rank, (uint64_t)i) % 3 != 0 && (i / 100 % sms_nprocs != rank || i % 2 == 0);
}

static uint64_t stored(uint64_t seed, int rank, size_t bytes, int i) {
  uint64_t value = 0;
  const uint64_t bits = mix2(seed + 77 + (uint64_t)rank, (uint64_t)i);
  for (size_t b = 0; b < bytes; ++b) value |= (1 + (bits >> b & 1)) << 8 * b;
  return value;
}

/* Whether some rank stored this in this round; else it is what was there before. `all`: what was there is overwritten
 * if anybody has stored. */
static void expect_one_of(uint64_t seed, size_t bytes, int i, uint64_t value, uint64_t before, int all,
                          const char* how) {
  int writers = 0;
  for (int r = 0; r < sms_nprocs; ++r) {
    if (!stores(seed, r, i)) continue;
    ++writers;
    if (value == stored(seed, r, bytes, i)) return;
  }
  if (value == before && (!all || writers == 0)) return;
  fail("%s: element %d of %zu bytes is %#llx, which nobody stored; before it was %#llx", how, i, bytes,
       (unsigned long long)value, (unsigned long long)before);
}

static void by_barriers(void* array, size_t bytes, uint64_t seed) {
  for (int i = 0; i < VALUES; ++i)
    if (stores(seed, sms_rank, i)) store(array, bytes, i, stored(seed, sms_rank, bytes, i));
}

/* Each rank under a lock of its own; then it takes those of the others, and sees what they have written by then. */
static void by_locks(void* array, size_t bytes, uint64_t seed) {
  for (int part = 0; part < 3; ++part) {
    sms_lock(sms_rank);
    for (int i = part; i < VALUES; i += 3)
      if (stores(seed, sms_rank, i)) store(array, bytes, i, stored(seed, sms_rank, bytes, i));
    sms_unlock(sms_rank);
    for (int r = 0; r < sms_nprocs; ++r) sms_lock(r), sms_unlock(r);
  }
}

static void by_flags(void* array, size_t bytes, uint64_t seed) {
  for (int part = 0; part < 3; ++part) {
    for (int i = part; i < VALUES; i += 3)
      if (stores(seed, sms_rank, i)) store(array, bytes, i, stored(seed, sms_rank, bytes, i));
    sms_sync();
    sms_fetch_add(&flags[(size_t)sms_rank * PAGE / 8], 1);
    for (int r = 0; r < sms_nprocs; ++r) sms_atomic_load(&flags[(size_t)r * PAGE / 8]);
    sms_sync();
  }
}

static void values(size_t bytes, long rounds, uint64_t seed) {
  static const struct {
    void (*write)(void*, size_t, uint64_t);
    const char* name;
  } ways[] = {{by_barriers, "barriers"}, {by_locks, "locks"}, {by_flags, "flags"}};
  void* array = sms_alloc(bytes, VALUES, sms_nprocs - 1);
  uint64_t* const before = calloc(VALUES, sizeof *before);
  for (long round = 0; round < rounds; ++round) {
    const int way = (int)(round % 3);
    seed = mix(seed + (uint64_t)round);
    ways[way].write(array, bytes, seed);
    if (way > 0)
      for (int i = 0; i < VALUES; ++i)
        expect_one_of(seed, bytes, i, value_at(array, bytes, i), before[i], 0, ways[way].name);
    sms_barrier();
    for (int i = 0; i < VALUES; ++i) {
      const uint64_t value = value_at(array, bytes, i);
      expect_one_of(seed, bytes, i, value, before[i], 1, ways[way].name);
      before[i] = value;
    }
    sms_barrier();
  }
  free(before);
  sms_free(array);
}

/* Different bytes, or members, of each rank in every element. */
static void parts(size_t element, size_t scalar, uint64_t seed) {
  const size_t bytes = VALUES * 24 / element * element;
  unsigned char* const array = sms_alloc(element, bytes / element, 0);
  if (scalar != 0) sms_set_scalar(array, scalar);
  const size_t part = scalar != 0 ? scalar : 1;
  for (unsigned round = 0; round < 6; ++round) {
    for (size_t at = 0; at < bytes; at += part)
      if (at / part % (size_t)sms_nprocs == (size_t)sms_rank && mix2(seed + round, at) % 4 != 0)
        memset(array + at, (int)(1 + mix2(seed, round + at) % 200), part);
    if (round % 2 == 1)
      for (int r = 0; r < sms_nprocs; ++r) sms_lock(r), sms_unlock(r);
    sms_barrier();
    for (size_t at = 0; at < bytes; at += part)
      for (size_t b = at; b < at + part; ++b)
        if (mix2(seed + round, at) % 4 != 0 && array[b] != 1 + mix2(seed, round + at) % 200)
          fail("round %u: byte %zu of elements of %zu bytes is lost", round, b, element);
    sms_barrier();
  }
  sms_free(array);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const long rounds = option_number(argc, argv, "--rounds", 6);
  const uint64_t seed = (uint64_t)option_number(argc, argv, "--seed", 1);
  flags = spread(sms_nprocs, PAGE / 8, sizeof *flags);
  values(2, rounds, seed);
  values(4, rounds, seed + 1);
  values(8, rounds, seed + 2);
  parts(1, 0, seed + 3);
  parts(12, 0, seed + 4); /* no number */
  parts(4, 1, seed + 5);  /* bytes, as struct {char r, g, b, a;} */
  parts(8, 4, seed + 6);  /* struct {int a, b;} */
  parts(8, 2, seed + 7);
  if (sms_rank == 0) puts("whole");
  return sms_shutdown();
}
