/* The time steps: leapfrog, as kick, drift, kick. */
#include <math.h>

#include "barnes_hut.h"

static void barrier(const bh* b) {
  if (b->memory.barrier != NULL) b->memory.barrier();
}

static double largest_coordinate(const void* of) {
  const bh* b = of;
  double most = 0;
  for (int i = 0; i < b->area.count; i++) {
    const body* p = &b->area.bodies[i];
    const double here = fmax(fabs(p->x), fmax(fabs(p->y), fabs(p->z)));
    if (!(here <= most)) most = isnan(p->x + p->y + p->z) ? INFINITY : here;
  }
  return most;
}

cube cube_of(bh* b) {
  const double most = team_max(&b->team, largest_coordinate(b));
  team_agree(&b->team, isfinite(most), TEAM_WRONG,
             "a coordinate is no longer finite at step %d; use a smaller --dt or a larger --softening", b->step);
  int exponent;
  frexp(most, &exponent);
  b->tree.smallest = ldexp(1, exponent - DEPTH);
  return (cube){0, 0, 0, ldexp(1, exponent)};
}

static void kick(bh* b) {
  const double half = b->dt / 2;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < b->area.count; i++) {
    motion* const p = &b->area.motions[i];
    for (int d = 0; d < 3; d++) p->v[d] += half * p->a[d];
  }
}

static void drift(bh* b) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < b->area.count; i++) {
    const double* v = b->area.motions[i].v;
    body* const p = &b->area.bodies[i];
    p->x += b->dt * v[0], p->y += b->dt * v[1], p->z += b->dt * v[2];
  }
}

/* Energy and momentum of all bodies. */
static void conserved(bh* b) {
  double energy = 0, px = 0, py = 0, pz = 0;
#pragma omp parallel for schedule(static) reduction(+ : energy, px, py, pz)
  for (int i = 0; i < b->area.count; i++) {
    const motion* p = &b->area.motions[i];
    const double m = b->area.bodies[i].m;
    energy += m * (p->v[0] * p->v[0] + p->v[1] * p->v[1] + p->v[2] * p->v[2] + p->phi) / 2;
    px += m * p->v[0], py += m * p->v[1], pz += m * p->v[2];
  }
  b->energy = team_sum(&b->team, energy);
  px = team_sum(&b->team, px), py = team_sum(&b->team, py), pz = team_sum(&b->team, pz);
  b->momentum = sqrt(px * px + py * py + pz * pz);
}

static void accelerate(bh* b, void (*build)(bh* b)) {
  build(b);
  check_twins(b);
  double since = team_now();
  forces(b);
  bh_phase(b, FORCES, &since);
  barrier(b);
  bh_phase(b, EXCHANGE, &since);
}

void bh_run(bh* b, void (*build)(bh* b)) {
  accelerate(b, build);
  if (b->verify) check_tree(b);
  conserved(b);
  b->start_energy = b->energy;
  for (int i = 0; i < PHASES; i++) b->run.phase[i] = 0;
  b->accesses = b->interactions = 0;
  if (b->memory.counters != NULL) b->memory.counters(&b->pages, &(int64_t){0});
  if (b->volume_folder != NULL) record_open_volume(b);
  b->run.work = b->size;
  b->run.unit = "bodies";
  run_start(&b->run, &b->team, b->step, b->steps);
  for (bool more = b->step < b->steps; more;) {
    double since = team_now();
    kick(b);
    drift(b);
    bh_phase(b, UPDATE, &since);
    accelerate(b, build);
    since = team_now();
    kick(b);
    conserved(b);
    b->drift = fmax(b->drift, fabs(b->energy / b->start_energy - 1));
    b->step++;
    bh_phase(b, UPDATE, &since);
    more = record_step(b) && b->step < b->steps;
  }
  run_stop(&b->run);
}
