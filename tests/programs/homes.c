/* Random programs on arrays whose homes move, against a sequential oracle: every rank computes what all ranks write.
 * Arrays are distributed anew at random, while ranks have copies and have written to them, and have any policy.
 *
 * homes --seeds N [--seed FIRST] [--steps N]
 *
 * What fails prints its seed; --seed repeats it. */
#include "programs.h"

enum { most_arrays = 3, most_dims = 3 };

typedef struct array {
  int dims, dim[most_dims + 1], div[most_dims + 1], first, count;
  size_t elemsize, elements;
  unsigned char *shared, *expected;
} array;

static uint64_t seed;
static int step;

/* As many pieces as there are ranks for. */
static void choose_div(rng* r, array* a) {
  a->first = rng_int(r, sms_nprocs);
  a->count = 1 + rng_int(r, sms_nprocs - a->first);
  int left = a->count;
  for (int d = 0; d < a->dims; ++d) {
    const int most = left < a->dim[d] ? left : a->dim[d];
    a->div[d] = 1 + rng_int(r, most);
    left /= a->div[d];
  }
  a->div[a->dims] = -1;
}

static array make_array(rng* r) {
  static const size_t sizes[] = {1, 2, 4, 8, 24, 100};
  array a = {.dims = 1 + rng_int(r, most_dims), .elemsize = sizes[rng_int(r, 6)], .elements = 1};
  const int extents[] = {150000, 400, 60};
  for (int d = 0; d < a.dims; ++d) {
    a.dim[d] = 1 + rng_int(r, extents[a.dims - 1]);
    a.elements *= (size_t)a.dim[d];
  }
  a.dim[a.dims] = -1;
  choose_div(r, &a);
  a.shared = sms_mapalloc(a.dim, a.div, a.elemsize, a.first, a.count);
  sms_set_scalar(a.shared, 1); /* ranks write single bytes of an element */
  a.expected = calloc(a.elements, a.elemsize);
  if (a.expected == NULL) fail("no memory");
  sms_set_homes(a.shared, (enum sms_homes)rng_int(r, 3));
  return a;
}

/* In blocks of bytes, each written by one rank. `habit`: blocks keep their writers over many steps, so homes follow. */
static void write_array(rng* r, array* a, int habit) {
  const size_t bytes = a->elements * a->elemsize;
  const size_t block = 1 + (size_t)rng_below(r, rng_once_in(r, 2) ? 200 : 40000);
  const size_t fixed = (size_t)4096 * (1 + mix2(seed, 77) % 8);
  const uint64_t salt = rng_next(r);
  const size_t size = habit ? fixed : block;
  const int sparse = rng_once_in(r, 3);
  for (size_t at = 0; at < bytes; at += size) {
    const size_t end = at + size < bytes ? at + size : bytes;
    const int writer = (int)(mix2(habit ? seed : salt, at) % (uint64_t)sms_nprocs);
    if (mix2(salt, at + 1) % 4 == 0) continue;
    for (size_t i = at; i < end; i += sparse ? 97 : 1) {
      const unsigned char value = (unsigned char)mix2(salt, i);
      a->expected[i] = value;
      if (writer == sms_rank) a->shared[i] = value;
    }
  }
}

static void check_array(rng* own, const array* a) {
  const size_t bytes = a->elements * a->elemsize;
  const size_t from = rng_once_in(own, 2) ? 0 : (size_t)rng_below(own, bytes);
  const size_t end = from + 1 + (size_t)rng_below(own, bytes - from);
  const int stride = 1 + rng_int(own, 40) * rng_int(own, 2);
  for (size_t i = from; i < end; i += (size_t)stride)
    if (a->shared[i] != a->expected[i])
      fail("seed %llu step %d: byte %zu of %zu is %d instead of %d", (unsigned long long)seed, step, i, bytes,
           a->shared[i], a->expected[i]);
}

static void preload_some(rng* own, const array* a) {
  sms_range section[most_dims];
  for (int d = 0; d < a->dims; ++d) {
    section[d].base = rng_int(own, a->dim[d]);
    section[d].length = 1 + rng_int(own, a->dim[d] - (int)section[d].base);
    section[d].step = 1;
  }
  if (rng_once_in(own, 2)) sms_preload(a->shared, section);
  else sms_preload_start(a->shared, section);
}

/* What the formula says of the elements, once they have just been distributed. */
static void check_homes(const array* a) {
  size_t base[most_dims], length[most_dims];
  for (int rank = 0; rank < sms_nprocs; ++rank) {
    sms_local_box(a->shared, rank, base, length);
    size_t index = 0, elements = 1;
    for (int d = 0; d < a->dims; ++d) index = index * (size_t)a->dim[d] + base[d], elements *= length[d];
    if (elements > 0 && sms_home(a->shared + index * a->elemsize) != rank)
      fail("seed %llu step %d: element %zu is not at home on rank %d", (unsigned long long)seed, step, index, rank);
    if (elements > 0 && (rank < a->first || rank >= a->first + a->count))
      fail("seed %llu step %d: rank %d has elements", (unsigned long long)seed, step, rank);
  }
}

static void change(rng* r, array* a) {
  switch (rng_int(r, 8)) {
    case 0:
    case 1:
      choose_div(r, a);
      sms_redistribute_on(a->shared, a->div, a->first, a->count);
      check_homes(a);
      break;
    case 2: sms_set_homes(a->shared, (enum sms_homes)rng_int(r, 3)); break;
    case 3:
      sms_free(a->shared);
      free(a->expected);
      *a = make_array(r);
      break;
    default: break;
  }
}

/* Either all of what was written is published by this, or by a change of homes, which is a barrier. */
static void synchronise(rng* r, array* a) {
  switch (rng_int(r, 6)) {
    case 0: sms_sync_drop(); break;
    case 1:
      choose_div(r, a);
      sms_redistribute_on(a->shared, a->div, a->first, a->count);
      break;
    default: sms_barrier();
  }
}

static void run(int steps) {
  rng r = {seed}, own = {mix2(seed, (uint64_t)sms_rank + 1000)};
  array arrays[most_arrays];
  const int count = 1 + rng_int(&r, most_arrays);
  const int habit = rng_once_in(&r, 2);
  for (int i = 0; i < count; ++i) arrays[i] = make_array(&r);
  for (step = 0; step < steps; ++step) {
    for (int i = 0; i < count; ++i)
      if (!rng_once_in(&r, 4)) write_array(&r, &arrays[i], habit && !rng_once_in(&r, 8));
    synchronise(&r, &arrays[rng_int(&r, count)]);
    for (int i = 0; i < count; ++i) {
      if (rng_once_in(&own, 4)) preload_some(&own, &arrays[i]);
      if (!rng_once_in(&own, 3)) check_array(&own, &arrays[i]);
    }
    sms_barrier();
    change(&r, &arrays[rng_int(&r, count)]);
  }
  for (int i = 0; i < count; ++i) {
    check_array(&own, &arrays[i]);
    sms_barrier();
    sms_free(arrays[i].shared);
    free(arrays[i].expected);
  }
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const long seeds = tries(option_number(argc, argv, "--seeds", 20)), begin = option_number(argc, argv, "--seed", 1);
  const int steps = (int)option_number(argc, argv, "--steps", 24);
  for (seed = (uint64_t)begin; seed < (uint64_t)(begin + seeds); ++seed) run(steps);
  if (sms_rank == 0) printf("homes: right, seeds %ld..%ld\n", begin, begin + seeds - 1);
  return sms_shutdown();
}
