#include "is.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The published constants: five keys by their place in the sequence, their ranks, and how these move by iteration. */
typedef struct class_constants {
  char name;
  int log2_keys, log2_width;
  int place[IS_TESTS], rank[IS_TESTS];
  bool rises[IS_TESTS]; /* the rank grows with the iteration, or falls */
  int origin;           /* iteration at which a rising one is as given; */
  int falling_origin;   /* and a falling one */
} class_constants;

static const class_constants constants[] = {
    {'S', 16, 11, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}, {1, 1, 1, 0, 0}, 0, 0},
    {'W',
     20,
     16,
     {357773, 934767, 875723, 898999, 404505},
     {1249, 11698, 1039987, 1043896, 1048018},
     {1, 1, 0, 0, 0},
     2,
     0},
    {'A',
     23,
     19,
     {2112377, 662041, 5336171, 3642833, 4250760},
     {104, 17523, 123928, 8288932, 8388264},
     {1, 1, 1, 0, 0},
     1,
     1},
    {'B',
     25,
     21,
     {41869, 812306, 5102857, 18232239, 26860214},
     {33422937, 10244, 59149, 33135281, 99},
     {0, 1, 1, 0, 1},
     0,
     0},
    {'C',
     27,
     23,
     {44172927, 72999161, 74326391, 129606274, 21736814},
     {61147, 882988, 266290, 133997595, 133525895},
     {1, 1, 1, 0, 0},
     0,
     0},
};

static const class_constants* constants_of(char name) {
  const class_constants* c = constants;
  while (c->name != name) c++;
  return c;
}

static long first_of(long total, int rank, int ranks) { return total * rank / ranks; }

is_job is_begin(npb* n, int* sizes, is_exchange* exchange) {
  const class_constants* c = constants_of(n->class);
  const int me = n->team.rank, ranks = n->team.count;
  npb_require(n, ranks <= IS_BUCKETS, "%d ranks are more than the %d buckets that they share; start fewer", ranks,
              IS_BUCKETS);
  is_job job = {.sizes = sizes, .exchange = exchange, .n = n, .me = me, .ranks = ranks};
  job.total = 1L << c->log2_keys;
  job.width = 1 << c->log2_width;
  job.shift = c->log2_width - 10; /* 2^10 buckets */
  job.first = first_of(job.total, me, ranks);
  job.count = (int)(first_of(job.total, me + 1, ranks) - job.first);
  /* A rank gets buckets until it has its part or more, and no bucket has more than 1/256 of the keys: the sum of four
   * random numbers is densest in the middle, 8/3 of the average of 1/1024. */
  job.capacity = job.total / ranks + job.total / 256 + 1;
  const size_t most = (size_t)(job.total / ranks + 1);
  job.keys = npb_array(n, most, sizeof(int));
  job.sorted = npb_array(n, most, sizeof(int));
  job.rank = npb_array(n, (size_t)job.width, sizeof(int));
  uint64_t x = npb_random_after(npb_seed, 4 * (uint64_t)job.first);
  for (int i = 0; i < job.count; i++) {
    uint64_t sum = npb_random(&x);
    for (int k = 1; k < 4; k++) sum += npb_random(&x);
    job.keys[i] = (int)(sum >> (NPB_BITS + 2 - c->log2_width));
  }
  return job;
}

/* The change that each iteration makes; the sizes of the buckets, and the test keys. */
static void count(is_job* job, int iteration) {
  const class_constants* c = constants_of(job->n->class);
  if (job->me == 0) {
    job->keys[iteration] = iteration;
    job->keys[iteration + IS_ITERATIONS] = job->width - iteration;
  }
  memset(job->sizes, 0, IS_SIZES * sizeof(int));
  const int* restrict keys = job->keys;
  int* restrict sizes = job->sizes;
  const int end = job->count, shift = job->shift;
  for (int i = 0; i < end; i++) sizes[keys[i] >> shift]++;
  for (int i = 0; i < IS_TESTS; i++) {
    const long place = c->place[i] - job->first;
    if (place >= 0 && place < end) sizes[IS_BUCKETS + i] = keys[place];
  }
}

void is_sort(is_job* job, const int* bounds, int* const* near) {
  job->sorting -= now();
  int *at[IS_BUCKETS], *next = job->sorted;
  for (int b = 0; b < IS_BUCKETS; next += job->sizes[b++]) at[b] = next;
  for (int i = 0; near != NULL && i < job->ranks; i++) {
    next = near[i];
    for (int b = bounds[i]; next != NULL && b < bounds[i + 1]; next += job->sizes[b++]) at[b] = next;
  }
  const int* restrict keys = job->keys;
  const int end = job->count, shift = job->shift;
  for (int i = 0; i < end; i++) *at[keys[i] >> shift]++ = keys[i];
  job->sorting += now();
}

void is_bounds(const is_job* job, const int* totals, int* bounds) {
  long sum = 0;
  int rank = 0;
  bounds[0] = 0;
  for (int b = 0; b < IS_BUCKETS; b++) {
    sum += totals[b];
    while (rank < job->ranks && sum >= first_of(job->total, rank + 1, job->ranks)) bounds[++rank] = b + 1;
  }
}

static void test(is_job* job, int iteration, int which, long key) {
  const class_constants* c = constants_of(job->n->class);
  if (key < job->low || key >= job->low + job->span) return;
  const long expected =
      c->rises[which] ? c->rank[which] + iteration - c->origin : c->rank[which] - iteration + c->falling_origin;
  const long found = job->below + (key > job->low ? job->rank[key - 1 - job->low] : 0);
  if (found == expected) job->passed++;
  else fprintf(stderr, "IS: iteration %d, test key %d: its rank is %ld, not %ld\n", iteration, which, found, expected);
}

/* Gives the keys of this rank's buckets their ranks, and tests five of them. */
static void give_ranks(is_job* job, int iteration, const int* bounds, const int* totals, const int* mine) {
  job->low = bounds[job->me] << job->shift;
  job->span = (bounds[job->me + 1] - bounds[job->me]) << job->shift;
  job->below = is_sum(totals, 0, bounds[job->me]);
  memset(job->rank, 0, (size_t)job->span * sizeof(int));
  int* const rank = job->rank - job->low;
  const long end = is_sum(totals, bounds[job->me], bounds[job->me + 1]);
  for (long i = 0; i < end; i++) rank[mine[i]]++;
  for (int k = 1; k < job->span; k++) job->rank[k] += job->rank[k - 1];
  for (int i = 0; i < IS_TESTS; i++) test(job, iteration, i, totals[IS_BUCKETS + i]);
}

/* Sorts the keys by their ranks and counts what is out of order: among this rank's keys, and those that are not in its
 * buckets, which are above those of the rank before. */
static long out_of_order(const is_job* job, const int* mine) {
  const long end = job->span > 0 ? job->rank[job->span - 1] : 0;
  int* sorted = npb_memory(job->n, (size_t)end, sizeof *sorted);
  long errors = 0;
  for (long i = 0; i < end; i++) {
    const int key = mine[i];
    if (key < job->low || key >= job->low + job->span) errors++;
    else sorted[--job->rank[key - job->low]] = key;
  }
  for (long i = 1; i < end; i++) errors += sorted[i - 1] > sorted[i];
  free(sorted);
  return errors;
}

int is_run(is_job* job, npb* n) {
  int totals[IS_SIZES], bounds[IS_BUCKETS + 1];
  const int* mine = NULL;
  for (int pass = 0; pass <= IS_ITERATIONS; pass++) { /* the first is to warm up */
    const int iteration = pass > 0 ? pass : 1;
    if (pass == 1) {
      job->passed = 0;
      npb_start(n);
    }
    count(job, iteration);
    memset(totals, 0, sizeof totals);
    job->sorting = 0;
    n->communication -= now();
    mine = job->exchange(job, totals, bounds);
    n->communication += now() - job->sorting;
    give_ranks(job, iteration, bounds, totals, mine);
  }
  npb_stop(n);

  const double here = job->span > 0 ? job->rank[job->span - 1] : 0;
  const long expected = IS_TESTS * IS_ITERATIONS;
  const long tests = (long)npb_sum(n, (double)job->passed), keys = (long)npb_sum(n, here);
  const long errors = (long)npb_sum(n, (double)out_of_order(job, mine));
  char detail[128];
  snprintf(detail, sizeof detail, "%ld of %ld ranks as published; of %ld keys, %ld out of order", tests, expected, keys,
           errors);
  return npb_finish(n, tests == expected && keys == job->total && errors == 0, job->total, IS_ITERATIONS,
                    1e-6 * IS_ITERATIONS * (double)job->total, "keys ranked", detail);
}
