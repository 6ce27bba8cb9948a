/* is.h: Integer Sort, but for what its ranks say to each other: the keys, the buckets, ranking and verification.
 *
 * Ten times, all keys get their rank (their place in the sorted order). Each rank holds a piece of the sequence of
 * keys, sorts it into buckets by the leading bits, and gets all keys of some buckets from everybody. All functions are
 * local and take no memory but is_begin and is_full; arrays belong to the caller.
 */
#ifndef NPB_IS_H
#define NPB_IS_H

#include "../npb.h"

enum { IS_BUCKETS = 1024, IS_TESTS = 5, IS_SIZES = IS_BUCKETS + IS_TESTS, IS_ITERATIONS = 10 };

/* What the program gives: a function that brings each key to the rank that has its bucket. It adds the sizes of all
 * ranks to `totals`, asks is_bounds who has which bucket, has the keys sorted by is_sort, and returns those that this
 * rank has got, in any order. Collective. */
typedef struct is_job is_job;
typedef const int* is_exchange(is_job* job, int* totals, int* bounds);

struct is_job {
  int* sizes; /* [b]: keys of this rank in bucket b. Behind them, the test keys that this rank holds, 0 for others */
  is_exchange* exchange;

  const npb* n;
  int me, ranks;
  long total;     /* keys in all */
  int shift;      /* key >> shift is its bucket */
  int width;      /* keys are 0 to width - 1 */
  long first;     /* place of this rank's first key in the sequence */
  int count;      /* of this rank's keys */
  long capacity;  /* most keys that any rank may get */
  int* keys;      /* count */
  int* sorted;    /* count: the keys by bucket, but for those that is_sort has put elsewhere */
  int* rank;      /* width: keys of this rank's buckets that are not greater, from `low` on */
  int low, span;  /* the least key of its buckets, and how many different ones there may be */
  long below;     /* keys of lower ranks */
  long passed;    /* tests that this rank has passed since the clock was started */
  double sorting; /* seconds in is_sort */
};

/* The job of this rank for n->class, keys generated. Collective. */
is_job is_begin(npb* n, int* sizes, is_exchange* exchange);

/* Which rank has which buckets: rank i those from bounds[i] to bounds[i + 1] - 1; ranks + 1 bounds. */
void is_bounds(const is_job* job, const int* totals, int* bounds);

/* How many keys of `sizes` are in buckets [from, to). */
static inline int is_sum(const int* sizes, int from, int to) {
  int sum = 0;
  for (int b = from; b < to; b++) sum += sizes[b];
  return sum;
}

/* Sorts this rank's keys by bucket: those for rank i to near[i], or, if that or `near` is NULL, to their place in
 * job->sorted. Is no communication, and not on its clock. */
void is_sort(is_job* job, const int* bounds, int* const* near);

/* Ranks the keys ten times, on the clock, verifies and reports. Returns the exit status. Collective. */
int is_run(is_job* job, npb* n);

#endif
