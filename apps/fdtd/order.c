/* In which order a rank updates its planes: several steps at once, so that fields are in the cache for all of them. */
#include "fdtd.h"

/* p of a plane or row needs u up to two planes or rows after it, and the next u needs p up to one after it. So where u
 * of a step is done up to some plane, p can be done up to LAG_OF_P before it, and the next step up to LAG before it;
 * nothing is computed twice. */
enum { LAG_OF_P = READ_ABOVE_OF_U, LAG = LAG_OF_P + READ_ABOVE_OF_P };

/* A tile is as many rows as have this size in a plane of one field. Of each field, about LAG * depth planes of a tile
 * are used until all steps are done, and should stay in the last cache. With several planes at a time, a row finds in
 * the nearest cache what the one before it has read, and threads share more rows. */
enum { TILE_BYTES = 128 * 1024, LEAST_ROWS = 16, PLANES = 2, PLANES_OF_THREADS = 4 };

/* A rank can update the planes [low, high) of its own without data of other ranks, and without changing what other
 * ranks still read; the planes before and after them are the ends. In step k of those that are done at once, the ends
 * are LAG planes wider on each side than in the one before. */
typedef struct band {
  int low, high;
} band;

static band band_of(const fdtd* f, int below, int above) {
  const bool first = f->lo == PAD, last = f->hi == PAD + f->size[2];
  const int low = first ? f->lo : smaller(f->lo + below, f->hi);
  return (band){low, last ? f->hi : larger(f->hi - above, low)};
}

/* In the first step the ends of u are only what other ranks read, and come first. */
static band u_band(const fdtd* f, int k) {
  return k == 0 ? band_of(f, READ_ABOVE_OF_U, READ_BELOW_OF_U) : band_of(f, LAG * k, LAG * k);
}

static band p_band(const fdtd* f, int k) { return band_of(f, READ_BELOW_OF_U + LAG * k, READ_ABOVE_OF_U + LAG * k); }

static void step_u(fdtd* f, const fields* a, part r) {
  if (r.z0 < r.z1 && r.y0 < r.y1) update_u(f, a, r);
}

static void step_p(fdtd* f, const fields* a, int step, part r) {
  if (r.z0 >= r.z1 || r.y0 >= r.y1) return;
  update_p(f, a, r);
  fdtd_sound(f, step, a, r);
}

static part planes(const fdtd* f, int z0, int z1) { return (part){z0, z1, PAD, PAD + f->size[1]}; }

void update_u_ends(fdtd* f, const fields* a, int k) {
  const band b = u_band(f, k);
  step_u(f, a, planes(f, f->lo, b.low));
  step_u(f, a, planes(f, b.high, f->hi));
}

void update_p_ends(fdtd* f, const fields* a, int step, int k) {
  const band b = p_band(f, k);
  step_p(f, a, step + k, planes(f, f->lo, b.low));
  step_p(f, a, step + k, planes(f, b.high, f->hi));
}

/* Rows of a tile, such that all tiles have nearly as many; those of the later steps begin up to `lag` rows earlier. */
static int rows_of_tile(const fdtd* f, int lag) {
  const int most = larger(f->threads * TILE_BYTES / (f->row * (int)sizeof(double)), LEAST_ROWS);
  const int tiles = (f->size[1] + lag + most - 1) / most;
  return (f->size[1] + lag + tiles - 1) / tiles;
}

/* Where a step is behind the first one, in planes and rows, what is left of these in the box and in the band. */
static part behind(const fdtd* f, part r, int lag, band b) {
  return (part){larger(r.z0 - lag, b.low), smaller(r.z1 - lag, b.high), larger(r.y0 - lag, PAD),
                smaller(r.y1 - lag, PAD + f->size[1])};
}

void update_bands(fdtd* f, const fields* a, int step, int depth) {
  const int lag = LAG * (depth - 1) + LAG_OF_P, end_y = PAD + f->size[1] + lag, end_z = f->hi + lag;
  const bool blocked = f->depth > 1;
  const int height = blocked ? rows_of_tile(f, lag) : end_y - PAD;
  const int count = !blocked ? end_z - f->lo : f->threads > 1 ? PLANES_OF_THREADS : PLANES;
  for (int y = PAD; y < end_y; y += height)
    for (int z = f->lo; z < end_z; z += count)
      for (int k = 0; k < depth; k++) {
        const part front = {z, z + count, y, y + height};
        step_u(f, a, behind(f, front, LAG * k, u_band(f, k)));
        step_p(f, a, step + k, behind(f, front, LAG * k + LAG_OF_P, p_band(f, k)));
      }
}

int fdtd_depth(const fdtd* f, int step) {
  const int every[] = {f->film, f->snapshot, f->every};
  int depth = smaller(f->depth, f->steps - step + 1);
  for (int i = 0; i < 3; i++)
    if (every[i] > 0) depth = smaller(depth, every[i] - (step - 1) % every[i]);
  return depth;
}
