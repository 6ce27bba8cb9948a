/* What a block of the box is after some steps: a new value is the sum of the 27 values around, with one weight for each
 * kind of neighbour.
 *
 * A block is computed plane by plane. When a plane of the field is read, plane z of step 1 can follow, then z - 1 of
 * step 2, and so on, so that what one step leaves is still in the cache for the next. Of each step but the last, 3
 * planes are kept, in scratch memory. The steps before the last one reach further than the block, by a plane and a row
 * on each side for each step that follows: blocks compute these values again instead of waiting for one another. */
#include <string.h>

#include "stencil27.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum { KEPT = 3 }; /* planes of a step that the next one reads */

/* The point itself, and those beside it through a face, an edge and a corner. */
static const double centre = 8.0 / 64, face = 4.0 / 64, edge = 2.0 / 64, corner = 1.0 / 64;

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

/* One row of n points: `below`, `at` and `above` are its rows in the three planes of the step before. The sums over y
 * and z come first, those over x from them, in the same order for every point. */
static void new_row(double* restrict to, const double* below, const double* at, const double* above, int row, int n,
                    double* restrict beside, double* restrict across) {
#pragma omp simd
  for (int x = 0; x <= n + 1; x++) {
    beside[x] = (at[x - row] + at[x + row]) + (below[x] + above[x]);
    across[x] = (below[x - row] + below[x + row]) + (above[x - row] + above[x + row]);
  }
#pragma omp simd
  for (int x = 1; x <= n; x++)
    to[x] = centre * at[x] + face * ((at[x - 1] + at[x + 1]) + beside[x]) +
            edge * ((beside[x - 1] + beside[x + 1]) + across[x]) + corner * (across[x - 1] + across[x + 1]);
}

typedef struct block {
  int z0, z1, y0, y1;
} block;

/* Rows [y0, y1) of plane z after a step. Boundary points keep their values, which `from` has. */
static void new_plane(const stencil27* s, const rows* before, const rows* after, const rows* from, int z, int y0,
                      int y1, bool last, double* sums) {
  const job* job = &s->job;
  const int nx = job->nx;
  for (int y = y0; y < y1; y++) {
    double* to = row_at(after, z, y);
    const double* kept = row_at(from, z, y);
    if (z == 0 || z == job->nz + 1 || y == 0 || y == job->ny + 1) {
      memcpy(to, kept, sizeof *to * (size_t)(nx + 2));
      continue;
    }
    new_row(to, row_at(before, z - 1, y), row_at(before, z, y), row_at(before, z + 1, y), job->row, nx, sums,
            sums + job->row);
    if (!last) to[0] = kept[0], to[nx + 1] = kept[nx + 1];
  }
}

/* Two rows of sums, and the kept planes of all steps but the last. */
static size_t kept_rows(const stencil27* s) { return (size_t)KEPT * (size_t)(s->block_y + 2 * (s->depth - 1)); }

size_t scratch_bytes(const stencil27* s) {
  return sizeof(double) * (size_t)s->job.row * (2 + (size_t)(s->depth - 1) * kept_rows(s));
}

static void advance_block(const stencil27* s, const double* from, double* to, int steps, block b, double* scratch) {
  const job* job = &s->job;
  const rows field = {(double*)from + job->shift, job->plane_points, job->row, 0, false};
  const rows result = {to + job->shift, job->plane_points, job->row, 0, false};
  const int planes = job->nz + 2, rows_of_plane = job->ny + 2, margin = steps - 1;
  double* const kept = scratch + 2 * job->row;
  for (int front = b.z0 - margin; front < b.z1 + margin; front++) {
    rows before = field;
    for (int step = 1; step <= steps; step++) {
      const int z = front - (step - 1), wide = steps - step;
      rows after = {kept + (size_t)(step - 1) * kept_rows(s) * (size_t)job->row + job->shift,
                    (ptrdiff_t)(s->block_y + 2 * (s->depth - 1)) * job->row, job->row, b.y0 - margin, true};
      if (step == steps) after = result;
      if (z >= larger(b.z0 - wide, 0) && z < smaller(b.z1 + wide, planes))
        new_plane(s, &before, &after, &field, z, larger(b.y0 - wide, 0), smaller(b.y1 + wide, rows_of_plane),
                  step == steps, scratch + job->shift);
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
