/* Arrays of the random programs: shapes, distributions, and the queries about them. */
#include "random.h"

static int64_t piece(const array* a, int d) { return (a->dim[d] + a->div[d] - 1) / a->div[d]; }

/* Mostly a few pages with an odd end; sometimes more than a small cache holds. */
static size_t draw_bytes(rng* r, int scale) {
  const size_t pages[] = {1, 3, 3, 6, 6, 20, 20, 300};
  const size_t limit = pages[rng_int(r, 8)] * PAGE * (size_t)scale;
  return 1 + rng_below(r, limit);
}

static void draw_shape(array* a, rng* r, int scale) {
  const size_t elemsizes[] = {1, 2, 4, 8, 8, 24};
  a->elemsize = elemsizes[rng_int(r, 6)];
  int64_t rest = (int64_t)(draw_bytes(r, scale) / a->elemsize);
  if (rest < 1) rest = 1;
  a->ndim = 1 + rng_int(r, MAX_DIMS);
  size_t elements = 1;
  for (int d = a->ndim - 1; d >= 0; --d) {
    const int64_t caps[] = {3, 17, 40, 600};
    const int64_t cap = caps[rng_int(r, 4)];
    a->dim[d] = d == 0 ? rest : 1 + (int64_t)rng_below(r, (uint64_t)(rest < cap ? rest : cap));
    rest = rest / a->dim[d] > 0 ? rest / a->dim[d] : 1;
    elements *= (size_t)a->dim[d];
  }
  a->bytes = elements * a->elemsize;
}

/* Any product of pieces up to count, over any range of ranks. */
static void draw_distribution(array* a, rng* r) {
  a->count = 1 + rng_int(r, sms_nprocs);
  if (rng_once_in(r, 2)) a->count = sms_nprocs;
  a->first = rng_int(r, sms_nprocs - a->count + 1);
  int rest = a->count;
  const int turn = rng_int(r, a->ndim);
  for (int i = 0; i < a->ndim; ++i) {
    const int d = (i + turn) % a->ndim;
    const int most = a->dim[d] < rest ? (int)a->dim[d] : rest;
    a->div[d] = rng_once_in(r, 2) ? most : 1 + rng_int(r, most);
    rest /= (int)a->div[d];
  }
}

static void* allocate(const array* a, rng* r) {
  if (rng_once_in(r, 2)) {
    int64_t dim[MAX_DIMS + 1], div[MAX_DIMS + 1];
    memcpy(dim, a->dim, sizeof a->dim);
    memcpy(div, a->div, sizeof a->div);
    dim[a->ndim] = div[a->ndim] = -1;
    return sms_mapalloc_large(dim, div, a->elemsize, a->first, a->count);
  }
  int dim[MAX_DIMS + 1], div[MAX_DIMS + 1];
  for (int d = 0; d < a->ndim; ++d) dim[d] = (int)a->dim[d], div[d] = (int)a->div[d];
  dim[a->ndim] = div[a->ndim] = -1;
  return sms_mapalloc(dim, div, a->elemsize, a->first, a->count);
}

void array_create(program* p) {
  rng* r = &p->script;
  array* a = &p->arrays[p->narrays++];
  memset(a, 0, sizeof *a);
  a->id = p->allocated++;
  draw_shape(a, r, p->set->scale);
  if (rng_once_in(r, 3)) {
    a->ndim = 1, a->dim[0] = (int64_t)(a->bytes / a->elemsize), a->div[0] = 1;
    a->first = rng_int(r, sms_nprocs), a->count = 1;
    a->shared = sms_alloc(a->elemsize, (size_t)a->dim[0], a->first);
  } else {
    draw_distribution(a, r);
    a->shared = allocate(a, r);
  }
  if (rng_once_in(r, 2)) sms_set_scalar(a->shared, a->scalar = 1);
  else a->scalar = a->elemsize == 2 || a->elemsize == 4 || a->elemsize == 8 ? a->elemsize : 1;
  a->model = calloc(1, a->bytes);
  if (a->model == NULL) fail("no memory for a model of %zu bytes", a->bytes);
  if (rng_once_in(r, 2)) {
    char name[40];
    snprintf(name, sizeof name, "random array %d", a->id);
    sms_name(a->shared, name);
  }
  const int when = rng_int(r, 3);
  if (p->set->twins) sms_set_twin(a->shared, (enum sms_twin)when);
}

void array_destroy(program* p, int index) {
  sms_free(p->arrays[index].shared);
  free(p->arrays[index].model);
  p->arrays[index] = p->arrays[--p->narrays];
}

/* The coordinates of piece k, counted in C order. */
static void piece_position(const array* a, int64_t k, int64_t at[]) {
  for (int d = a->ndim - 1; d >= 0; --d) {
    at[d] = k % a->div[d];
    k /= a->div[d];
  }
}

static int home_of(const array* a, int64_t element) {
  int64_t k = 0, weight = 1;
  for (int d = a->ndim - 1; d >= 0; --d) {
    k += element % a->dim[d] / piece(a, d) * weight;
    weight *= a->div[d];
    element /= a->dim[d];
  }
  return a->first + (int)k;
}

static void check_box(const program* p, const array* a, int rank) {
  size_t first[8], length[8];
  const int ndim = sms_local_box(a->shared, rank, first, length);
  if (ndim != a->ndim)
    fail("seed %lu array %d: sms_local_box says %d dimensions, has %d", p->seed, a->id, ndim, a->ndim);
  int64_t pieces = 1, at[MAX_DIMS];
  for (int d = 0; d < ndim; ++d) pieces *= a->div[d];
  const int inside = rank >= a->first && rank - a->first < pieces;
  piece_position(a, inside ? rank - a->first : 0, at);
  int64_t want = inside, got = 1;
  for (int d = 0; d < ndim; ++d) {
    const int64_t left = a->dim[d] - at[d] * piece(a, d);
    want *= left < 0 ? 0 : left < piece(a, d) ? left : piece(a, d);
    got *= (int64_t)length[d];
  }
  if (want != got)
    fail("seed %lu array %d: rank %d owns %ld elements, sms_local_box says %ld", p->seed, a->id, rank, want, got);
  for (int d = 0; d < ndim && want > 0; ++d)
    if ((int64_t)first[d] != at[d] * piece(a, d))
      fail("seed %lu array %d: rank %d begins at %ld in dimension %d, sms_local_box says %zu", p->seed, a->id, rank,
           at[d] * piece(a, d), d, first[d]);
}

void array_check_queries(const program* p, const array* a, rng* r) {
  check_box(p, a, rng_int(r, sms_nprocs));
  const int64_t element = (int64_t)rng_below(r, a->bytes / a->elemsize);
  const int home = sms_home(a->shared + (size_t)element * a->elemsize);
  if (home != home_of(a, element))
    fail("seed %lu array %d element %ld: home is rank %d, sms_home says %d", p->seed, a->id, element,
         home_of(a, element), home);
}

void fail_at(const program* p, int index, size_t byte, const char* what) {
  const array* a = &p->arrays[index];
  char shape[100];
  int used = snprintf(shape, sizeof shape, "%zu bytes x", a->elemsize);
  for (int d = 0; d < a->ndim; ++d)
    used += snprintf(shape + used, sizeof shape - (size_t)used, " %ld/%ld", a->dim[d], a->div[d]);
  /* Read again, late: says whether the wrong value was passing. */
  fail(
      "seed %lu, %d ranks, phase %d, array %d (%s from rank %d, at %p) element %zu byte %zu, on rank %d of node %d: "
      "%s; "
      "model %u, now %u",
      p->seed, sms_nprocs, p->phase, a->id, shape, a->first, (void*)a->shared, byte / a->elemsize, byte, sms_rank,
      sms_node, what, a->model[byte], *(volatile unsigned char*)(a->shared + byte));
}
