/* Random assignments, fills and compound assignments between sections of coarrays and local memory, on random images,
 * compared with a model: every image keeps a copy of the parts of all images and plays each step on it, byte by byte.
 *
 *   xmp_random [--seed N] [--steps N] [--threads 0|1]
 */
#include <xmp.h>

#include "programs.h"

enum { BYTES = 1 << 16, DIMS = 4 };

typedef struct box {
  int dims;
  int64_t count[DIMS], stride[DIMS], first; /* bytes from the start of the part */
} box;

typedef struct step {
  int actor, to_image, from_image; /* from_image -1: the actor's local memory */
  int kind;                        /* 0 assign, 1 fill, 2 update, 3 started assign, 4 update by one value */
  size_t element;
  box to, from;
  enum xmp_operator op;
  enum xmp_type type;
} step;

static unsigned char* model; /* [image][BYTES], and BYTES of local memory for each */
static unsigned char* part_of(int image) { return model + (size_t)image * BYTES; }
static unsigned char* local_of(int image) { return model + (size_t)(sms_nprocs + image) * BYTES; }

static int64_t elements(const box* b) {
  int64_t n = 1;
  for (int d = 0; d < b->dims; ++d) n *= b->count[d];
  return n;
}

/* Where element i of the box begins. */
static int64_t offset_of(const box* b, int64_t i) {
  int64_t at = b->first;
  for (int d = b->dims - 1; d >= 0; --d) {
    at += i % b->count[d] * b->stride[d];
    i /= b->count[d];
  }
  return at;
}

/* A box of the given counts whose elements do not overlap, somewhere in the part. Every other one is dense inside. */
static void place_box(rng* r, box* b, size_t element) {
  int64_t span = (int64_t)element, low = 0;
  for (int d = b->dims - 1; d >= 0; --d) {
    int64_t stride = span * (rng_once_in(r, 2) ? 1 : 1 + rng_int(r, 3));
    if (stride * b->count[d] > BYTES / 8) stride = span;
    span = stride * (b->count[d] - 1) + span;
    if (rng_once_in(r, 4)) stride = -stride, low += stride * (b->count[d] - 1);
    b->stride[d] = stride;
  }
  if (span > BYTES) fail("a box of %ld bytes does not fit; the test is wrong", (long)span);
  const int64_t room = (BYTES - span) / (int64_t)element;
  b->first = -low + (int64_t)rng_below(r, (uint64_t)room + 1) * (int64_t)element;
}

static void random_counts(rng* r, box* b) {
  static const int most[] = {1, 200, 20, 8, 5};
  b->dims = rng_int(r, DIMS + 1);
  for (int d = 0; d < b->dims; ++d) b->count[d] = 1 + rng_int(r, most[b->dims]);
}

/* The same elements in another shape: as one row, or with a dimension of length 1 more. */
static void reshape(rng* r, const box* b, box* out) {
  *out = *b;
  if (b->dims > 1 && rng_once_in(r, 3)) {
    out->dims = 1;
    out->count[0] = elements(b);
  } else if (b->dims < DIMS && b->dims > 0 && rng_once_in(r, 3)) {
    const int at = rng_int(r, b->dims + 1);
    for (int d = b->dims; d > at; --d) out->count[d] = out->count[d - 1];
    out->count[at] = 1;
    out->dims = b->dims + 1;
  }
}

static step random_step(rng* r) {
  static const size_t sizes[] = {1, 2, 4, 8, 16, 12, 24, 40};
  step s = {0};
  s.actor = rng_int(r, sms_nprocs);
  s.to_image = rng_int(r, sms_nprocs);
  s.from_image = rng_once_in(r, 3) ? -1 : rng_int(r, sms_nprocs);
  s.kind = rng_int(r, 5);
  s.element = sizes[rng_int(r, 8)];
  if (s.kind == 2 || s.kind == 4) {
    static const enum xmp_type types[] = {XMP_INT32, XMP_UINT64, XMP_UINT8, XMP_INT16};
    static const size_t bytes[] = {4, 8, 1, 2};
    static const enum xmp_operator ops[] = {XMP_ADD, XMP_SUB, XMP_MUL, XMP_BITXOR, XMP_BITOR, XMP_BITAND};
    const int t = rng_int(r, 4);
    s.type = types[t], s.element = bytes[t], s.op = ops[rng_int(r, 6)];
  }
  random_counts(r, &s.to);
  reshape(r, &s.to, &s.from);
  place_box(r, &s.to, s.element);
  if (s.kind == 1 || s.kind == 4) s.from.dims = 0;
  place_box(r, &s.from, s.element);
  return s;
}

static uint64_t load(const unsigned char* at, size_t bytes) {
  uint64_t value = 0;
  memcpy(&value, at, bytes);
  return value;
}

static uint64_t combine(uint64_t a, uint64_t b, enum xmp_operator op) {
  switch (op) {
    case XMP_ADD: return a + b;
    case XMP_SUB: return a - b;
    case XMP_MUL: return a * b;
    case XMP_BITXOR: return a ^ b;
    case XMP_BITOR: return a | b;
    default: return a & b;
  }
}

static void play_on_model(const step* s) {
  static unsigned char copy[BYTES];
  unsigned char* const to = part_of(s->to_image);
  memcpy(copy, s->from_image < 0 ? local_of(s->actor) : part_of(s->from_image), BYTES);
  const int64_t n = elements(&s->to);
  for (int64_t i = 0; i < n; ++i) {
    unsigned char* const at = to + offset_of(&s->to, i);
    const unsigned char* const from = copy + (s->from.dims == 0 ? s->from.first : offset_of(&s->from, i));
    if (s->kind == 2 || s->kind == 4) {
      const uint64_t value = combine(load(at, s->element), load(from, s->element), s->op);
      memcpy(at, &value, s->element);
    } else {
      memcpy(at, from, s->element);
    }
  }
}

static xmp_section section(const box* b, const xmp_coarray* coarray, int image, unsigned char* part) {
  xmp_section s = {.coarray = coarray, .image = image, .address = part + b->first, .dims = b->dims};
  for (int d = 0; d < b->dims; ++d) s.count[d] = b->count[d], s.stride[d] = b->stride[d];
  return s;
}

static void play(const step* s, const xmp_coarray* coarray, unsigned char* local) {
  const int from_local = s->from_image < 0;
  const xmp_section to = section(&s->to, coarray, s->to_image, coarray->data);
  const xmp_section from =
      section(&s->from, from_local ? NULL : coarray, s->from_image, from_local ? local : (unsigned char*)coarray->data);
  if (s->kind == 2 || s->kind == 4) {
    xmp_update(&to, s->type, &from, s->type, s->op, "xmp_random.c:update");
  } else if (s->kind == 1 && from_local) {
    xmp_fill(&to, from.address, s->element, "xmp_random.c:fill");
  } else if (s->kind == 3) {
    xmp_request r = xmp_assign_start(&to, &from, s->element, "xmp_random.c:start");
    if (s->element == 4)
      while (!xmp_request_test(&r)) pause_between_looks(0);
    xmp_request_wait(&r);
  } else {
    xmp_assign(&to, &from, s->element, "xmp_random.c:assign");
  }
}

int main(int argc, char** argv) {
  xmp_init(&argc, &argv);
  const int64_t extent[] = {BYTES};
  const long steps = option_number(argc, argv, "--steps", 300);
  const long seed = option_number(argc, argv, "--seed", 1);
  xmp_coarray* coarray = xmp_coarray_malloc(1, 1, extent, "a", "xmp_random.c:a");
  unsigned char* local = malloc(BYTES);
  /* Sometimes local memory is a shared array, most of which is on another node. */
  unsigned char* shared = spread(sms_nprocs, BYTES, 1);
  model = malloc((size_t)sms_nprocs * 2 * BYTES);
  rng r = {(uint64_t)seed * 7919};
  for (long i = 0; i < 2L * sms_nprocs * BYTES; ++i) model[i] = (unsigned char)rng_next(&r);
  memcpy(coarray->data, part_of(sms_rank), BYTES);
  memcpy(local, local_of(sms_rank), BYTES);
  memcpy(shared + (size_t)((sms_rank + 1) % sms_nprocs) * BYTES, local, BYTES);
  sms_barrier();
  xmp_sync_all(NULL);
  for (long i = 0; i < steps; ++i) {
    const step s = random_step(&r);
    unsigned char* const from = i % 3 == 0 ? shared + (size_t)((sms_rank + 1) % sms_nprocs) * BYTES : local;
    if (s.actor == sms_rank) play(&s, coarray, from);
    xmp_sync_all(NULL);
    play_on_model(&s);
    if (memcmp(coarray->data, part_of(sms_rank), BYTES) != 0)
      fail("step %ld (kind %d, element %zu, to image %d, from image %d, actor %d): image %d is wrong", i, s.kind,
           s.element, s.to_image, s.from_image, s.actor, sms_rank);
    xmp_sync_all(NULL);
  }
  xmp_free(coarray);
  free(local);
  free(model);
  if (sms_rank == 0) printf("right\n");
  xmp_finalize();
  return 0;
}
