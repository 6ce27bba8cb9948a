/* What a block of the box is after some steps: a new value is the sum of the 27 values around, with one weight for each
 * kind of neighbour.
 *
 * A block is computed plane by plane. When a plane of the field is read, plane z of step 1 can follow, then z - 1 of
 * step 2, and so on, so that what one step leaves is still in the cache for the next. Of each step but the last, 3
 * planes are kept, in scratch memory. The steps before the last one reach further than the block, by a plane and a row
 * on each side for each step that follows: blocks compute these values again instead of waiting for one another. */
#include <string.h>

#include "stencil27.h"
#include "update.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum { KEPT = 3 }; /* planes of a step that the next one reads */

/* Rows of a field or of the scratch memory: row (z, y) begins at data + z * plane + y * row, where its boundary point x
 * = 0 is. Planes of scratch memory are used in turn. */
typedef struct rows {
  double* data;
  ptrdiff_t plane;
  int row, first_y;
  bool in_turn;
} rows;

static double* row_at(const rows* r, int z, int y) {
  return r->data + (r->in_turn ? z % KEPT : z) * r->plane + (y - r->first_y) * (ptrdiff_t)r->row;
}

/* ---- rows of points ---------------------------------------------------------------------------------------------- */

/* Vectors as long as the processor's. In C loops over x the sums beside a point would be loaded three times, at places
 * that cross cache lines; in registers they are shifted: twice as fast with data in the cache. */
#if defined(__AVX512F__)
enum { LANES = 8 };
#define SHIFTED_UP(before, at) __builtin_shufflevector(before, at, 7, 8, 9, 10, 11, 12, 13, 14)
#define SHIFTED_DOWN(at, after) __builtin_shufflevector(at, after, 1, 2, 3, 4, 5, 6, 7, 8)
#elif defined(__AVX__)
enum { LANES = 4 };
#define SHIFTED_UP(before, at) __builtin_shufflevector(before, at, 3, 4, 5, 6)
#define SHIFTED_DOWN(at, after) __builtin_shufflevector(at, after, 1, 2, 3, 4)
#else
enum { LANES = 2 };
#define SHIFTED_UP(before, at) __builtin_shufflevector(before, at, 1, 2)
#define SHIFTED_DOWN(at, after) __builtin_shufflevector(at, after, 1, 2)
#endif
typedef double vector __attribute__((vector_size(LANES * sizeof(double)), may_alias));

enum { TOGETHER = 2 }; /* rows computed at once, which have most of what they read in common */

/* What rows of three planes have in common at some x. */
typedef struct column {
  vector middle[TOGETHER], side[TOGETHER];
} column;

static inline __attribute__((always_inline)) column column_at(const double* below, const double* at,
                                                              const double* above, int row, int count) {
  vector m[TOGETHER + 2], z[TOGETHER + 2];
  column c;
#pragma GCC unroll 8
  for (int r = 0; r < count + 2; r++) {
    const ptrdiff_t there = (r - 1) * (ptrdiff_t)row;
    m[r] = *(const vector*)(at + there);
    z[r] = *(const vector*)(below + there) + *(const vector*)(above + there);
  }
#pragma GCC unroll 8
  for (int r = 0; r < count; r++) {
    const vector beside = BESIDE(m + r, z + r), across = ACROSS(z + r);
    c.middle[r] = MIDDLE(m[r + 1], beside, across);
    c.side[r] = SIDE(m[r + 1], beside, across);
  }
  return c;
}

/* The points that are left at the end of a row, one at a time. */
static void rest_of_row(double* to, const double* below, const double* at, const double* above, int row, int x, int n) {
  for (; x < n; x++) {
    double middle = 0, side[3];
    for (int i = 0; i < 3; i++) {
      double m[3], z[3];
      for (int r = 0; r < 3; r++) {
        const ptrdiff_t there = (r - 1) * (ptrdiff_t)row + x + i - 1;
        m[r] = at[there];
        z[r] = below[there] + above[there];
      }
      const double beside = BESIDE(m, z), across = ACROSS(z);
      side[i] = SIDE(m[1], beside, across);
      if (i == 1) middle = MIDDLE(m[1], beside, across);
    }
    to[x] = NEW(middle, side[0], side[2]);
  }
}

/* How far ahead the processor is to fetch what is in memory: the plane that is read next, and the rows that are written
 * next; 0 where that is in the cache: a prefetch then costs less than a condition. */
typedef struct prefetch {
  ptrdiff_t read, write;
} prefetch;

/* `count` rows of n points, whose first points `to`, `below`, `at` and `above` name, in the new plane and in the three
 * of the step before. */
static inline __attribute__((always_inline)) void new_rows(double* to, const double* below, const double* at,
                                                           const double* above, int row, int n, prefetch hint,
                                                           int count) {
  const int whole = n - n % LANES;
  if (whole > 0) {
    column last = column_at(below - LANES, at - LANES, above - LANES, row, count);
    column now = column_at(below, at, above, row, count);
    for (int x = 0; x < whole; x += LANES) {
      const int x_next = x + LANES;
      const column next = column_at(below + x_next, at + x_next, above + x_next, row, count);
#pragma GCC unroll 8
      for (int r = 0; r < count; r++) {
        __builtin_prefetch(above + hint.read + x + r * (ptrdiff_t)row, 0, 2);
        __builtin_prefetch(to + hint.write + x + r * (ptrdiff_t)row, 1, 3);
        *(vector*)(to + r * (ptrdiff_t)row + x) =
            NEW(now.middle[r], SHIFTED_UP(last.side[r], now.side[r]), SHIFTED_DOWN(now.side[r], next.side[r]));
      }
      last = now;
      now = next;
    }
  }
  for (int r = 0; whole < n && r < count; r++) {
    const ptrdiff_t there = r * (ptrdiff_t)row;
    rest_of_row(to + there, below + there, at + there, above + there, row, whole, n);
  }
}

/* ---- planes and blocks ------------------------------------------------------------------------------------------- */

typedef struct block {
  int z0, z1, y0, y1;
} block;

/* Rows [y0, y1) of plane z after a step. Boundary points keep their values; where the step is the last one, the result
 * has them already. */
static void new_plane(const stencil27* s, const rows* before, const rows* after, int z, int y0, int y1) {
  const int nx = s->job.nx, ny = s->job.ny, row = s->job.row;
  const bool inside = z > 0 && z <= s->job.nz;
  for (int y = y0, count; y < y1; y += count) {
    double* const to = row_at(after, z, y);
    const double* const at = row_at(before, z, y);
    count = 1;
    if (!inside || y == 0 || y == ny + 1) {
      if (after->in_turn) memcpy(to, at, sizeof *to * (size_t)(nx + 2));
      continue;
    }
    const double *const below = row_at(before, z - 1, y), *const above = row_at(before, z + 1, y);
    const prefetch hint = {before->in_turn ? 0 : before->plane, after->in_turn ? 0 : TOGETHER * (ptrdiff_t)row};
    if (smaller(y1, ny + 1) - y >= TOGETHER) count = TOGETHER;
    if (count == TOGETHER) new_rows(to + 1, below + 1, at + 1, above + 1, row, nx, hint, TOGETHER);
    else new_rows(to + 1, below + 1, at + 1, above + 1, row, nx, hint, 1);
    for (int r = 0; after->in_turn && r < count; r++) {
      const ptrdiff_t left = r * (ptrdiff_t)row, right = left + nx + 1;
      to[left] = at[left];
      to[right] = at[right];
    }
  }
}

/* The planes of all steps but the last that are kept. */
static size_t kept_rows(const stencil27* s) { return (size_t)KEPT * (size_t)(s->block_y + 2 * (s->depth - 1)); }

size_t scratch_bytes(const stencil27* s) {
  return sizeof(double) * (size_t)s->job.row * (size_t)(s->depth - 1) * kept_rows(s);
}

static void advance_block(const stencil27* s, const double* from, double* to, int steps, block b, double* scratch) {
  const job* job = &s->job;
  const rows field = {(double*)from + job->shift, job->plane_points, job->row, 0, false};
  const rows result = {to + job->shift, job->plane_points, job->row, 0, false};
  const int planes = job->nz + 2, rows_of_plane = job->ny + 2, margin = steps - 1;
  for (int front = b.z0 - margin; front < b.z1 + margin; front++) {
    rows before = field;
    for (int step = 1; step <= steps; step++) {
      const int z = front - (step - 1), wide = steps - step;
      rows after = {scratch + (size_t)(step - 1) * kept_rows(s) * (size_t)job->row + job->shift,
                    (ptrdiff_t)(s->block_y + 2 * (s->depth - 1)) * job->row, job->row, b.y0 - margin, true};
      if (step == steps) after = result;
      if (z >= larger(b.z0 - wide, 0) && z < smaller(b.z1 + wide, planes))
        new_plane(s, &before, &after, z, larger(b.y0 - wide, 0), smaller(b.y1 + wide, rows_of_plane));
      before = after;
    }
  }
}

void advance(const stencil27* s, const double* from, double* to, int steps, int z0, int z1) {
  const int ny = s->job.ny;
#pragma omp parallel for collapse(2) schedule(dynamic, 1)
  for (int z = z0; z < z1; z += s->block_z)
    for (int y = 1; y <= ny; y += s->block_y) {
#ifdef _OPENMP
      double* const scratch = s->scratch[omp_get_thread_num()];
#else
      double* const scratch = s->scratch[0];
#endif
      const block b = {z, smaller(z + s->block_z, z1), y, smaller(y + s->block_y, ny + 1)};
      advance_block(s, from, to, steps, b, scratch);
    }
}

typedef struct inside {
  int from, to;
} inside;

static inside inside_of(const stencil27* s) {
  const job* job = &s->job;
  const int from = job->first > 0 ? smaller(job->lo + s->depth, job->hi) : job->lo;
  return (inside){from, job->last < job->nz + 2 ? larger(job->hi - s->depth, from) : job->hi};
}

void advance_ends(const stencil27* s, const double* from, double* to, int steps) {
  const inside in = inside_of(s);
  advance(s, from, to, steps, s->job.lo, in.from);
  advance(s, from, to, steps, in.to, s->job.hi);
}

void advance_inside(const stencil27* s, const double* from, double* to, int steps) {
  const inside in = inside_of(s);
  advance(s, from, to, steps, in.from, in.to);
}
