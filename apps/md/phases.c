/* The phases of a step, for one layer; and what parts that share the layers do. */
#include <math.h>
#include <string.h>

#include "md.h"

enum { LANES = 8 }; /* cells are computed in groups of LANES elements */

static double* of_cell(double* array, int cell, int d) { return array + (3 * (size_t)cell + (size_t)d) * MD_ROOM; }
static const double* places_of(const layer* l, int cell, int d) { return of_cell(l->x, cell, d); }

/* ---- drift and arrive -------------------------------------------------------------------------------------------- */

static void take_out(layer* l, int cell, int i) {
  const int last = --l->count[cell];
  for (int d = 0; d < 3; d++) {
    double *const x = of_cell(l->x, cell, d), *const v = of_cell(l->v, cell, d);
    memmove(x + i, x + i + 1, (size_t)(last - i) * sizeof *x);
    memmove(v + i, v + i + 1, (size_t)(last - i) * sizeof *v);
    x[last] = MD_FAR_AWAY;
  }
  int* const id = l->id + (size_t)cell * MD_ROOM;
  memmove(id + i, id + i + 1, (size_t)(last - i) * sizeof *id);
}

static int put(layer* l, const traveller* t) {
  const int i = l->count[t->cell];
  if (i == MD_ROOM) return MD_CELL_FULL;
  for (int d = 0; d < 3; d++) {
    of_cell(l->x, t->cell, d)[i] = t->x[d];
    of_cell(l->v, t->cell, d)[i] = t->v[d];
  }
  l->id[(size_t)t->cell * MD_ROOM + (size_t)i] = t->id;
  l->count[t->cell]++;
  return 0;
}

/* Particle i of the cell at `at` has left it in at least one dimension. */
static int send(const md* m, layer* l, const int at[3], int cell, int i) {
  traveller t = {.id = l->id[(size_t)cell * MD_ROOM + (size_t)i]};
  int to[3], up = 0;
  for (int d = 0; d < 3; d++) {
    const double x = of_cell(l->x, cell, d)[i], low = at[d] * m->edge, high = (at[d] + 1) * m->edge;
    if (!(x >= low - m->edge && x < high + m->edge)) return MD_STEP_TOO_LONG;
    const int move = (x >= high) - (x < low);
    to[d] = (at[d] + move + m->cells) % m->cells;
    t.x[d] = x + (at[d] + move < 0 ? m->extent : 0) - (at[d] + move >= m->cells ? m->extent : 0);
    t.v[d] = of_cell(l->v, cell, d)[i];
    if (d == 2) up = move;
  }
  t.cell = to[1] * m->cells + to[0];
  take_out(l, cell, i);
  box* const box = l->leaving[up > 0 ? MD_UP : up < 0 ? MD_DOWN : MD_HERE];
  if (box->count == m->box_room) return MD_BOX_FULL;
  box->of[box->count++] = t;
  return 0;
}

static bool outside(const md* m, layer* l, const int at[3], int cell, int i) {
  for (int d = 0; d < 3; d++) {
    const double x = of_cell(l->x, cell, d)[i];
    if (!(x >= at[d] * m->edge && x < (at[d] + 1) * m->edge)) return true;
  }
  return false;
}

int md_drift(const md* m, layer* l, int z, double kick) {
  int fault = 0;
  for (int b = 0; b < MD_BOXES; b++) l->leaving[b]->count = 0;
  for (int cell = 0; cell < m->cells * m->cells; cell++) {
    const int at[3] = {cell % m->cells, cell / m->cells, z};
    for (int d = 0; d < 3; d++) {
      double *const x = of_cell(l->x, cell, d), *const v = of_cell(l->v, cell, d), *const f = of_cell(l->f, cell, d);
      for (int i = 0; i < l->count[cell]; i++) {
        v[i] += f[i] * kick;
        x[i] += v[i] * m->step;
      }
    }
    for (int i = 0; i < l->count[cell];) {
      if (!outside(m, l, at, cell, i)) {
        i++;
        continue;
      }
      const int wrong = send(m, l, at, cell, i);
      if (wrong == MD_STEP_TOO_LONG) return wrong;
      if (wrong != 0) fault = wrong;
    }
  }
  return fault;
}

int md_arrive(const md* m, layer* l, const box* from_below, const box* from_above) {
  int fault = 0;
  const box* const boxes[] = {l->leaving[MD_HERE], from_below, from_above};
  for (int b = 0; b < 3; b++)
    for (int i = 0; i < boxes[b]->count && i < m->box_room; i++) {
      const int wrong = put(l, &boxes[b]->of[i]);
      if (wrong != 0) fault = wrong;
    }
  return fault;
}

/* ---- forces ------------------------------------------------------------------------------------------------------ */

/* The potential 4 (r^-12 - r^-6), moved by a line in r^2, so that it and the force end at MD_RANGE with 0. */
typedef struct cutoff {
  double square, value, slope; /* of the potential there, by r^2 */
} cutoff;

static cutoff at_cutoff(void) {
  const double s = 1 / (MD_RANGE * MD_RANGE), s3 = s * s * s;
  return (cutoff){MD_RANGE * MD_RANGE, 4 * (s3 * s3 - s3), -12 * (2 * s3 * s3 - s3) * s};
}

/* The particle at `at` with those from `first` of a cell (x, y, z) with `count`. `self`: only with those behind place
 * `first - 1`. Adds to the forces on both, and returns the potential. */
static double attract(const cutoff* end, const double at[3], int first, int count, const double* restrict x,
                      const double* restrict y, const double* restrict z, double force[3], double* restrict fx,
                      double* restrict fy, double* restrict fz) {
  double sum_x = 0, sum_y = 0, sum_z = 0, energy = 0;
  const double square = end->square, value = end->value, slope = end->slope;
  const int to = (count + LANES - 1) / LANES * LANES;
#pragma omp simd reduction(+ : sum_x, sum_y, sum_z, energy)
  for (int j = first / LANES * LANES; j < to; j++) {
    const double dx = at[0] - x[j], dy = at[1] - y[j], dz = at[2] - z[j];
    const double r2 = dx * dx + dy * dy + dz * dz;
    const bool near = (r2 < square) & (j >= first);
    const double s = 1 / (near ? r2 : square), s3 = s * s * s;
    const double pull = near ? 24 * (2 * s3 * s3 - s3) * s + 2 * slope : 0;
    energy += near ? 4 * (s3 * s3 - s3) - value - (r2 - square) * slope : 0;
    sum_x += pull * dx, sum_y += pull * dy, sum_z += pull * dz;
    fx[j] -= pull * dx, fy[j] -= pull * dy, fz[j] -= pull * dz;
  }
  force[0] += sum_x, force[1] += sum_y, force[2] += sum_z;
  return energy;
}

/* All particles of one cell with those of another, which lies `shift` away from where its numbers say. Of a cell with
 * itself, each pair once. */
static double cells(const cutoff* end, layer* l, int cell, const layer* other, int with, const double shift[3],
                    double* forces) {
  double energy = 0;
  const bool self = forces == l->f && cell == with;
  for (int i = 0; i < l->count[cell]; i++) {
    double at[3], force[3] = {0};
    for (int d = 0; d < 3; d++) at[d] = places_of(l, cell, d)[i] - shift[d];
    energy += attract(end, at, self ? i + 1 : 0, other->count[with], places_of(other, with, 0),
                      places_of(other, with, 1), places_of(other, with, 2), force, of_cell(forces, with, 0),
                      of_cell(forces, with, 1), of_cell(forces, with, 2));
    for (int d = 0; d < 3; d++) of_cell(l->f, cell, d)[i] += force[d];
  }
  return energy;
}

/* The cell that lies (dx, dy) away, and how far it has to be moved to be beside this one. */
static int neighbour(const md* m, int cell, int dx, int dy, double shift[3]) {
  const int x = cell % m->cells + dx, y = cell / m->cells + dy;
  shift[0] = x < 0 ? -m->extent : x >= m->cells ? m->extent : 0;
  shift[1] = y < 0 ? -m->extent : y >= m->cells ? m->extent : 0;
  return (y + m->cells) % m->cells * m->cells + (x + m->cells) % m->cells;
}

double md_forces(const md* m, layer* l, const layer* above, bool last) {
  static const int beside[][2] = {{0, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}};
  const cutoff end = at_cutoff();
  double energy = 0, shift[3] = {0};
  memset(l->f, 0, m->force_bytes);
  memset(l->up, 0, m->force_bytes);
  for (int cell = 0; cell < m->cells * m->cells; cell++) {
    shift[2] = 0;
    for (size_t k = 0; k < sizeof beside / sizeof *beside; k++) {
      const int with = neighbour(m, cell, beside[k][0], beside[k][1], shift);
      energy += cells(&end, l, cell, l, with, shift, l->f);
    }
    shift[2] = last ? m->extent : 0;
    for (int dy = -1; dy <= 1; dy++)
      for (int dx = -1; dx <= 1; dx++) {
        const int with = neighbour(m, cell, dx, dy, shift);
        energy += cells(&end, l, cell, above, with, shift, l->up);
      }
  }
  return energy;
}

/* `rest`: the time that velocities are behind the places. */
double md_finish(const md* m, layer* l, const double* from_below, double rest) {
  double energy = 0;
  for (int cell = 0; cell < m->cells * m->cells; cell++)
    for (int d = 0; d < 3; d++) {
      double *const f = of_cell(l->f, cell, d), *const v = of_cell(l->v, cell, d);
      const double* const more = from_below + (f - l->f);
      for (int i = 0; i < l->count[cell]; i++) {
        f[i] += more[i];
        const double now = v[i] + f[i] * rest;
        energy += now * now / 2;
      }
    }
  return energy;
}

/* ---- parts that share the layers --------------------------------------------------------------------------------- */

typedef struct own {
  md* m;
  const parts* parts;
  int first, end; /* layers of this part */
} own;

static layer* at(const own* own, int z) { return &own->m->layers[(z + own->m->cells) % own->m->cells]; }

/* Of a layer that another part may have. */
static void fetch(const own* own, int z, const void* what, size_t bytes) {
  if (z < own->first || z >= own->end) parts_fetch(own->parts, what, bytes);
}

static int move(const own* own, int thread, double kick) {
  md* const m = own->m;
  double clock = team_now();
  int fault = 0;
  for (int z = own->first; z < own->end; z++) fault = larger(fault, md_drift(m, at(own, z), z, kick));
  split_add(&m->run.split, thread, MD_MOVE, clock);
  own->parts->wait();
  clock = team_now();
  for (int z = own->first; z < own->end; z++) {
    const layer *const below = at(own, z - 1), *const above = at(own, z + 1);
    fetch(own, z - 1, below->leaving[MD_UP], m->box_bytes);
    fetch(own, z + 1, above->leaving[MD_DOWN], m->box_bytes);
    fault = larger(fault, md_arrive(m, at(own, z), below->leaving[MD_UP], above->leaving[MD_DOWN]));
  }
  split_add(&m->run.split, thread, MD_MOVE, clock);
  return fault;
}

/* Adds the energies. `rest`: see md_finish. */
static void compute(const own* own, int thread, double rest, double energy[2]) {
  md* const m = own->m;
  own->parts->wait();
  double clock = team_now();
  if (own->first < own->end) fetch(own, own->end, at(own, own->end)->x, m->place_bytes);
  clock = split_add(&m->run.split, thread, MD_COMM, clock);
  for (int z = own->first; z < own->end; z++) energy[0] += md_forces(m, at(own, z), at(own, z + 1), z == m->cells - 1);
  split_add(&m->run.split, thread, MD_FORCE, clock);
  own->parts->wait();
  clock = team_now();
  if (own->first < own->end) fetch(own, own->first - 1, at(own, own->first - 1)->up, m->force_bytes);
  clock = split_add(&m->run.split, thread, MD_COMM, clock);
  for (int z = own->first; z < own->end; z++) energy[1] += md_finish(m, at(own, z), at(own, z - 1)->up, rest);
  split_add(&m->run.split, thread, MD_MOVE, clock);
}

int md_part_steps(md* m, const parts* parts, int part, int from, int to, double* energy) {
  const int share = md_share(m, parts->count), thread = part % m->run.threads;
  const own own = {m, parts, (int)parts_first(m->cells, share, part), (int)parts_first(m->cells, share, part + 1)};
  int fault = 0;
  if (from == 0) compute(&own, thread, 0, energy);
  for (int step = from; step < to; step++) {
    fault = larger(fault, move(&own, thread, step == 0 ? m->step / 2 : m->step));
    compute(&own, thread, m->step / 2, energy + 2 * (step + 1));
  }
  return fault;
}
