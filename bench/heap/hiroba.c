/* The heap: bench_heap_hiroba KIND N [MOST].
 *
 *   random, pairs, batches   as work.h says, in one rank
 *   remote                   rank 0 allocates N objects, the last rank frees them, and rank 0 allocates as many again;
 *                            10 times
 *   calls                    N random calls by all ranks together, most objects freed by other ranks than those that
 *                            have allocated them: what memory is in use at the end, over the bytes of live objects,
 *                            which is an error if it is more than a third argument
 */
#include <sms.h>
#include <unistd.h>

#define ALLOCATE(bytes) sms_malloc(bytes)
#define RELEASE(object) sms_mfree(object)
#include "work.h"

static int remote(long objects) {
  enum { TIMES = 10 };
  uint32_t** const table = sms_alloc(sizeof *table, (size_t)objects, 0);
  double freeing = 0, allocating = 0;
  uint64_t seed = 88172645463325252u;
  for (int time = -1; time < TIMES; ++time) {
    double start = now();
    if (sms_rank == 0)
      for (long i = 0; i < objects; ++i) table[i] = heap_get(16 + heap_random(&seed) % 1009, (uint32_t)i);
    if (time >= 0) allocating += now() - start;
    sms_barrier();
    if (sms_rank == sms_nprocs - 1) {
      long wrong = 0;
      for (long i = 0; i < objects; ++i) wrong += table[i][0] != (uint32_t)i; /* and the table comes here */
      if (wrong != 0) sms_abort(1, "an object has another content");
      start = now();
      for (long i = 0; i < objects; ++i) sms_mfree(table[i]);
      if (time >= 0) freeing += now() - start;
    }
    sms_barrier();
  }
  const double each = 1e9 / (double)(TIMES * objects);
  allocating = each * sms_reduce_double(allocating, SMS_SUM), freeing = each * sms_reduce_double(freeing, SMS_SUM);
  if (sms_rank == 0) printf("{\"nanoseconds\": %.3f, \"allocation\": %.3f}\n", freeing, allocating);
  sms_free(table);
  return 0;
}

struct slot {
  uint32_t* object;
  uint32_t bytes, number;
};

static size_t any_size(uint64_t* seed) {
  const uint64_t kind = heap_random(seed) % 1000;
  return 8 + heap_random(seed) % (kind < 900 ? 1017 : kind < 995 ? 16384 : 262144);
}

static int calls_of_slot(struct slot* s, uint64_t* seed) {
  if (s->object != NULL && heap_put(s->object, s->number) != 0) sms_abort(1, "an object has another content");
  const int empty = s->object != NULL && heap_random(seed) % 3 == 0, was = s->object != NULL;
  s->object = NULL, s->bytes = 0;
  if (empty) return 1;
  s->bytes = (uint32_t)any_size(seed), s->number = (uint32_t)heap_random(seed);
  s->object = heap_get(s->bytes, s->number);
  return 1 + was;
}

static int calls(long wanted, double most) {
  enum { EACH = 50000, ROUNDS = 50 };
  const int dim[] = {sms_nprocs * EACH, -1}, div[] = {sms_nprocs, -1};
  struct slot* const table = sms_mapalloc(dim, div, sizeof *table, 0, sms_nprocs);
  uint64_t seed = 88172645463325252u + 977 * (uint64_t)sms_rank;
  for (int round = 0; round < ROUNDS; ++round) {
    struct slot* const part = table + (size_t)((sms_rank + round) % sms_nprocs) * EACH;
    for (long left = wanted / ROUNDS / sms_nprocs; left > 0;)
      left -= calls_of_slot(&part[heap_random(&seed) % EACH], &seed);
    sms_barrier();
  }
  /* At once, and after what is free has had time to go back to the system. */
  sms_heap_statistics at_once, s;
  sms_heap_stats(&at_once);
  usleep(400000);
  sms_barrier();
  sms_heap_stats(&s);
  double live = 0;
  for (size_t i = 0; i < EACH; ++i) live += table[(size_t)sms_rank * EACH + i].bytes;
  live = sms_reduce_double(live, SMS_SUM);
  const double kept = sms_reduce_double((double)at_once.used_bytes, SMS_SUM);
  const double used = sms_reduce_double((double)s.used_bytes, SMS_SUM);
  const double rounded = sms_reduce_double((double)s.live_bytes, SMS_SUM);
  if (sms_rank == 0)
    printf("{\"used over live\": %.4f, \"at once\": %.4f, \"rounded over live\": %.4f, \"live MB\": %.1f}\n",
           used / live, kept / live, rounded / live, 1e-6 * live);
  sms_barrier();
  return most > 0 && used > most * live;
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  if (argc < 3) sms_abort(2, "usage: bench_heap_hiroba random|pairs|batches|remote|calls N [MOST]");
  const long n = atol(argv[2]);
  int bad = 0;
  if (strcmp(argv[1], "remote") == 0) bad = remote(n);
  else if (strcmp(argv[1], "calls") == 0) bad = calls(n, argc > 3 ? atof(argv[3]) : 0);
  else bad = heap_work(argv[1], n);
  if (bad != 0) sms_abort(1, "the work has failed, or more memory is in use");
  return sms_shutdown();
}
