/* Whether small objects of different ranks share pages: with option heap-pack those of a node do, and never those of
 * two nodes; without it none do. The ranks write their objects at the same time, and free each other's.
 *
 *   heap_pack yes|no
 */
#include "programs.h"

enum { OBJECTS = 500, SIZES = 5, ROUNDS = 6 };

static const size_t sizes[SIZES] = {8, 24, 40, 200, 1024};
static uint64_t** table; /* ranks, objects */

static size_t size_of(int object) { return sizes[object % SIZES]; }
static uint64_t pattern(int rank, int object, int round) {
  return mix2((uint64_t)(rank * OBJECTS + object), (uint64_t)round);
}

static void allocate_mine(int round) {
  for (int i = 0; i < OBJECTS; ++i) {
    uint64_t* const object = sms_malloc(size_of(i));
    object[0] = pattern(sms_rank, i, round);
    object[size_of(i) / 8 - 1] = pattern(sms_rank, i, round);
    table[sms_rank * OBJECTS + i] = object;
  }
}

/* The rank's objects, as they must be; then they are freed. */
static void free_those_of(int rank, int round) {
  for (int i = 0; i < OBJECTS; ++i) {
    uint64_t* const object = table[rank * OBJECTS + i];
    if (object[0] != pattern(rank, i, round) || object[size_of(i) / 8 - 1] != pattern(rank, i, round))
      fail("round %d: object %d of rank %d has other contents on rank %d", round, i, rank, sms_rank);
    sms_mfree(object);
  }
}

/* How many pairs of objects of two ranks lie on one page; with homes at the same rank, as on one node. */
static int pairs_that_share(void) {
  int count = 0;
  const int all = sms_nprocs * OBJECTS;
  for (int a = 0; a < all; ++a)
    for (int b = a / OBJECTS * OBJECTS + OBJECTS; b < all; ++b)
      count += (uintptr_t)table[a] / PAGE == (uintptr_t)table[b] / PAGE;
  return count;
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const int packs = argc > 1 && strcmp(argv[1], "yes") == 0;
  table = sms_alloc(sizeof *table, (size_t)(sms_nprocs * OBJECTS), 0);
  for (int round = 0; round < ROUNDS; ++round) {
    allocate_mine(round);
    sms_barrier();
    if (sms_rank == 0 && (pairs_that_share() > 0) != packs)
      fail("round %d: %d pairs of objects of two ranks share a page", round, pairs_that_share());
    for (int i = 0; i < OBJECTS; ++i)
      if (!packs && sms_home(table[sms_rank * OBJECTS + i]) != sms_rank) fail("an object is not at home here");
    free_those_of((sms_rank + round) % sms_nprocs, round);
    sms_barrier();
  }
  sms_heap_statistics s;
  sms_heap_stats(&s);
  const int64_t used = sms_reduce_int64((int64_t)s.used_bytes, SMS_SUM);
  if (sms_rank == 0) printf("right: %lld KiB in use at the end\n", (long long)used >> 10);
  sms_free(table);
  return sms_shutdown();
}
