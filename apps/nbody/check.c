/* --verify of nbody. Plain loops that share nothing with the kernels, in double precision, repeat the whole run; the
 * velocities and the places are compared body by body. With --kind double momentum must be
 * kept, and on an ellipse energy as well as a leapfrog of second order keeps it. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

/* BSC's check of float: at most 0.6 % of the bodies may differ, by more than 8e-4. */
static const double float_tolerance = 8e-4, float_share = 0.006;
static const double double_tolerance = 1e-11, momentum_tolerance = 1e-15;

/* Of KDK on this ellipse, 100 steps an orbit, ten orbits: the largest relative error of the energy. */
static const double orbit_error = 1.084e-2;

/* ---- an ellipse -------------------------------------------------------------------------------------------------- */

static double across_ranks(const nbody* n, double mine, bool owner) { return team_sum(&n->run.team, owner ? mine : 0); }

void orbit_add(orbit* o, const nbody* n, int step) {
  double x[2][3], v[2][3], mass[2], square = 0, kinetic = 0;
  for (int i = 0; i < 2; i++) {
    const int strip = i / n->run.tile.rows;
    mass[i] = nbody_first_place(n, i).mass;
    for (int d = 0; d < 3; d++) {
      const bool owner = strip >= n->first && strip < n->end;
      x[i][d] = across_ranks(n, nbody_number(n, n->position[step % 2], i, d), owner);
      v[i][d] = across_ranks(n, nbody_number(n, n->velocity, i, d), owner);
    }
  }
  for (int d = 0; d < 3; d++) square += (x[1][d] - x[0][d]) * (x[1][d] - x[0][d]);
  for (int i = 0; i < 2; i++)
    for (int d = 0; d < 3; d++) { /* to the time of the places: half a step */
      const double half = v[i][d] + mass[1 - i] * (x[1 - i][d] - x[i][d]) / (square * sqrt(square)) * n->step / 2;
      kinetic += mass[i] * half * half / 2;
    }
  const double exact = -mass[0] * mass[1] / 2; /* the half axis is 1 */
  o->worst = fmax(o->worst, fabs((kinetic - mass[0] * mass[1] / sqrt(square)) / exact - 1));
}

static double check_orbit(const nbody* n, const orbit* o, tiled_figure found[NBODY_FIGURES]) {
  const double coarse = 100.0 * n->orbits / n->run.steps, expected = orbit_error * coarse * coarse;
  found[0] = (tiled_figure){"energy_error", o->worst};
  found[1] = (tiled_figure){"energy_error_of_a_leapfrog", expected};
  return fabs(o->worst / expected - 1) / 0.1;
}

/* ---- a box ------------------------------------------------------------------------------------------------------- */

/* The reference has all bodies; of each kind of number an array of its own. */
typedef struct reference {
  int bodies;
  double *x[3], *v[3], *a[3], *mass;
} reference;

static void accelerations(const reference* r, double gravity) {
  enum { GROUP = 64 }; /* bodies whose sums stay in the first cache */
#pragma omp parallel for schedule(static)
  for (int first = 0; first < r->bodies; first += GROUP) {
    const int count = smaller(GROUP, r->bodies - first);
    double sum[3][GROUP] = {{0}};
    const double *const x = r->x[0] + first, *const y = r->x[1] + first, *const z = r->x[2] + first;
    for (int j = 0; j < r->bodies; j++) {
      const double xj = r->x[0][j], yj = r->x[1][j], zj = r->x[2][j], mass = r->mass[j];
      for (int i = 0; i < count; i++) {
        const double dx = xj - x[i], dy = yj - y[i], dz = zj - z[i], d = sqrt(dx * dx + dy * dy + dz * dz);
        const double a = d > 0 ? mass / (d * d * d) : 0;
        sum[0][i] += a * dx, sum[1][i] += a * dy, sum[2][i] += a * dz;
      }
    }
    for (int d = 0; d < 3; d++)
      for (int i = 0; i < count; i++) r->a[d][first + i] = gravity * sum[d][i];
  }
}

static void repeat(const nbody* n, reference* r) {
  const double h = n->step;
  for (int step = 0; step < n->run.steps; step++) {
    accelerations(r, n->gravity);
    for (int d = 0; d < 3; d++)
      for (int i = 0; i < r->bodies; i++) {
        const double change = r->a[d][i] * h;
        if (n->floats) {
          r->x[d][i] += (r->v[d][i] + change / 2) * h;
          r->v[d][i] += change;
        } else {
          r->v[d][i] += step == 0 ? change / 2 : change;
          r->x[d][i] += r->v[d][i] * h;
        }
      }
  }
}

static reference repeated(const nbody* n) {
  enum { ARRAYS = 10 };
  const size_t count = (size_t)n->run.size;
  double* memory = malloc(ARRAYS * count * sizeof *memory);
  team_agree(&n->run.team, memory != NULL, TEAM_BAD_INPUT, "no memory to verify %d bodies", n->run.size);
  reference r = {.bodies = n->run.size, .mass = memory};
  for (int d = 0; d < 3; d++) {
    r.x[d] = memory + (size_t)(1 + d) * count;
    r.v[d] = memory + (size_t)(4 + d) * count;
    r.a[d] = memory + (size_t)(7 + d) * count;
  }
  for (int i = 0; i < n->run.size; i++) {
    const body b = nbody_first_place(n, i);
    r.mass[i] = b.mass;
    for (int d = 0; d < 3; d++) r.x[d][i] = b.x[d], r.v[d][i] = b.v[d];
  }
  repeat(n, &r);
  return r;
}

/* |got - expected| / |expected| of body i. */
static double distance(const nbody* n, const void* got, double* const expected[3], int i) {
  double difference = 0, whole = 0;
  for (int d = 0; d < 3; d++) {
    const double e = nbody_number(n, got, i, d) - expected[d][i];
    difference += e * e;
    whole += expected[d][i] * expected[d][i];
  }
  const double part = whole > 0 ? sqrt(difference / whole) : sqrt(difference);
  return isfinite(part) ? part : INFINITY;
}

static double check_box(const nbody* n, tiled_figure found[NBODY_FIGURES]) {
  const team* team = &n->run.team;
  reference r = repeated(n);
  const double tolerance = n->floats ? float_tolerance : double_tolerance;
  const int tile = n->run.tile.rows;
  double far = 0, worst = 0, momentum[3] = {0}, moving = 0;
  for (int i = n->first * tile; i < smaller(n->end * tile, n->run.size); i++) {
    const double v = distance(n, n->velocity, r.v, i), x = distance(n, n->position[n->run.steps % 2], r.x, i);
    far += v > tolerance || x > tolerance;
    worst = fmax(worst, fmax(v, x));
    for (int d = 0; d < 3; d++) {
      momentum[d] += r.mass[i] * nbody_number(n, n->velocity, i, d);
      moving += r.mass[i] * fabs(nbody_number(n, n->velocity, i, d));
    }
  }
  free(r.mass);
  far = team_sum(team, far) / n->run.size;
  worst = team_max(team, worst);
  moving = team_sum(team, moving);
  double lost = 0;
  for (int d = 0; d < 3; d++) lost = fmax(lost, fabs(team_sum(team, momentum[d])) / (moving > 0 ? moving : 1));
  found[0] = (tiled_figure){n->floats ? "bodies_off_by_8e-4" : "bodies_off_by_1e-11", far};
  found[1] = (tiled_figure){"largest_deviation", worst};
  found[2] = (tiled_figure){"momentum_lost", lost};
  return n->floats ? far / float_share : fmax(worst / double_tolerance, lost / momentum_tolerance);
}

double nbody_check(const nbody* n, const orbit* o, tiled_figure found[NBODY_FIGURES]) {
  return n->kepler ? check_orbit(n, o, found) : check_box(n, found);
}
