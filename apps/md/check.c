/* --verify of md: conserved quantities; and for small numbers of particles and short times the whole run again, by
 * plain loops over all pairs that share nothing with the cells. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

static const double cutoff = MD_RANGE;

/* Of a leapfrog from this start with steps of 0.004: the largest error of the energy of a particle is about 8.5e-4; it
 * is of second order. Rounding adds up to less than the other limits. */
static const double energy_limit = 1e-3, reference_step = 0.004, momentum_limit = 1e-11, path_limit = 1e-10;

/* ---- conserved quantities ---------------------------------------------------------------------------------------- */

/* The largest deviation from the energy at the start, for each particle. */
static double energy_error(const md* m, double* start) {
  double worst = 0;
  for (int step = 0; step <= m->run.steps; step++) {
    const double all = team_sum(&m->run.team, m->energy[2 * step] + m->energy[2 * step + 1]) / m->particles;
    if (step == 0) *start = all;
    worst = fmax(worst, isfinite(all) ? fabs(all - *start) : INFINITY);
  }
  return worst;
}

typedef struct visit {
  double momentum[3], outside;
  double path; /* largest distance from the reference, if there is one */
  uint64_t ids;
} visit;

static double* cell_of(double* array, size_t cell, int d) { return array + (3 * cell + (size_t)d) * MD_ROOM; }

/* By the shortest way around the cube. */
static double around(const md* m, double distance) { return distance - m->extent * rint(distance / m->extent); }

static void look_at_cell(const md* m, int z, size_t cell, const double* reference, visit* v) {
  const layer* const l = &m->layers[z];
  const int at[3] = {(int)cell % m->cells, (int)cell / m->cells, z};
  for (int i = 0; i < l->count[cell]; i++) {
    const int id = l->id[cell * MD_ROOM + (size_t)i];
    double square = 0;
    v->ids += (uint64_t)id + 1;
    for (int d = 0; d < 3; d++) {
      const double x = cell_of(l->x, cell, d)[i];
      v->momentum[d] += cell_of(l->v, cell, d)[i];
      v->outside += !(fabs(around(m, x - (at[d] + 0.5) * m->edge)) <= m->edge / 2 * (1 + 1e-9));
      const double e = reference == NULL ? 0 : around(m, x - reference[3 * id + d]);
      square += e * e;
    }
    v->path = fmax(v->path, isfinite(square) ? sqrt(square) : INFINITY);
  }
}

/* ---- the run again ----------------------------------------------------------------------------------------------- */

static void add_forces(const md* m, const double* x, double* f) {
  const double c6 = pow(cutoff, -6), slope = 24 * (c6 - 2 * c6 * c6) / cutoff / (2 * cutoff); /* by r^2 */
  for (int i = 0; i < 3 * m->particles; i++) f[i] = 0;
  for (int i = 0; i < m->particles; i++)
    for (int j = 0; j < i; j++) {
      double way[3], square = 0;
      for (int d = 0; d < 3; d++) {
        way[d] = around(m, x[3 * i + d] - x[3 * j + d]);
        square += way[d] * way[d];
      }
      if (square >= cutoff * cutoff) continue;
      const double r6 = 1 / (square * square * square);
      const double pull = 24 * (2 * r6 * r6 - r6) / square + 2 * slope;
      for (int d = 0; d < 3; d++) {
        f[3 * i + d] += pull * way[d];
        f[3 * j + d] -= pull * way[d];
      }
    }
}

/* The places at the end; in every rank. */
static double* repeated(const md* m) {
  const int numbers = 3 * m->particles;
  double* const x = malloc(3 * (size_t)numbers * sizeof *x);
  team_agree(&m->run.team, x != NULL, TEAM_BAD_INPUT, "no memory to verify %d particles", m->particles);
  double *const v = x + numbers, *const f = v + numbers;
  for (int i = 0; i < m->particles; i++) md_start(m, i, x + 3 * i, v + 3 * i);
  for (int step = 0; step < m->run.steps; step++) {
    add_forces(m, x, f);
    for (int k = 0; k < numbers; k++) {
      v[k] += f[k] * (step == 0 ? m->step / 2 : m->step);
      x[k] += v[k] * m->step;
    }
  }
  return x;
}

double md_check(const md* m, tiled_figure found[MD_FIGURES]) {
  const team* const team = &m->run.team;
  const size_t cells = (size_t)m->cells * (size_t)m->cells;
  const bool compares = m->particles <= MD_REPEATED && m->run.steps * m->step <= MD_COMPARED;
  double* const reference = compares ? repeated(m) : NULL;
  visit all = {.path = 0};
  for (int z = m->first; z < m->end; z++)
    for (size_t cell = 0; cell < cells; cell++) look_at_cell(m, z, cell, reference, &all);
  free(reference);
  double start = 0, momentum = 0;
  const double order = m->step / reference_step, drift = energy_error(m, &start);
  for (int d = 0; d < 3; d++) momentum = fmax(momentum, fabs(team_sum(team, all.momentum[d])) / m->particles);
  const uint64_t ids = team_sum_bits(team, all.ids), n = (uint64_t)m->particles;
  const double lost = team_sum(team, all.outside) + (ids != n * (n + 1) / 2);
  const double path = team_max(team, all.path);
  found[0] = (tiled_figure){"energy", start};
  found[1] = (tiled_figure){"energy_error", drift};
  found[2] = (tiled_figure){"momentum", momentum};
  found[3] = (tiled_figure){compares ? "path_error" : NULL, path};
  found[4] = (tiled_figure){NULL, 0};
  const double worst = fmax(momentum / momentum_limit, fmax(path / path_limit, 2 * lost));
  return fmax(drift / (energy_limit * order * order), worst);
}
