/* The state of a run: how it starts, what a checkpoint holds of it, and whether the answer is right. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/bits.h"
#include "fdtd.h"

static const double pi = 3.14159265358979323846;
static const int modes[3] = {2, 3, 1}; /* half waves of the standing wave in x, y, z */
static const double tolerance = 1e-12; /* of --verify; rounding leaves about 2e-14 */

enum { CHECKPOINT_VERSION = 1 };

static bool is(const char* a, const char* b) { return strcmp(a, b) == 0; }

static double* planes_of(const fdtd* f, double* array) { return array + f->first * f->plane; }

/* ---- start ------------------------------------------------------------------------------------------------------- */

/* cos(m pi (i + 1/2) / n) at cell i, and beyond the walls: an eigenvector of rise() of rise() between mirrors. */
static double* cosine(const fdtd* f, int d) {
  const int n = f->size[d], pad = d == 0 ? PAD_X : PAD;
  double* table = malloc(sizeof(double) * (size_t)(pad + n + PAD));
  team_agree(&f->team, table != NULL, TEAM_BAD_INPUT, "no memory for a standing wave");
  for (int i = 0; i < pad + n + PAD; i++) table[i] = cos(modes[d] * pi * (i - pad + 0.5) / n);
  return table;
}

/* p at t = 0, and u half a step before, so that the first step, over a whole one, makes it rest at t = 0. */
static void fill_mode(fdtd* f, fields* a) {
  double* c[3];
  for (int d = 0; d < 3; d++) c[d] = cosine(f, d);
  const double half = f->courant / 2;
  const double *cx = c[0], *cy = c[1], *cz = c[2];
#pragma omp parallel for schedule(static)
  for (int z = f->lo; z < f->hi; z++)
    for (int y = PAD; y < PAD + f->size[1]; y++)
      for (int x = PAD_X; x < PAD_X + f->size[0]; x++) {
        const ptrdiff_t at = fdtd_at(f, z, y, x);
        a->p[at] = cx[x] * cy[y] * cz[z];
        a->u[0][at] = x == PAD_X ? 0 : half * rise(cx[x - 2], cx[x - 1], cx[x], cx[x + 1]) * cy[y] * cz[z];
        a->u[1][at] = y == PAD ? 0 : half * rise(cy[y - 2], cy[y - 1], cy[y], cy[y + 1]) * cx[x] * cz[z];
        a->u[2][at] = z == PAD ? 0 : half * rise(cz[z - 2], cz[z - 1], cz[z], cz[z + 1]) * cx[x] * cy[y];
      }
  for (int d = 0; d < 3; d++) free(c[d]);
}

static void fill_noise(fdtd* f, fields* a) {
#pragma omp parallel for schedule(static)
  for (int z = f->lo; z < f->hi; z++)
    for (int y = PAD; y < PAD + f->size[1]; y++)
      for (int x = PAD_X; x < PAD_X + f->size[0]; x++) {
        const ptrdiff_t at = fdtd_at(f, z, y, x);
        if (!f->solid[at]) a->p[at] = noise_of((uint64_t)f->seed, z, y, x);
      }
}

/* By the threads that will compute the planes, so that each finds its own in its memory. */
static void fill_zero(fdtd* f, fields* a) {
#pragma omp parallel for schedule(static)
  for (int z = f->first; z < f->last; z++) {
    double* const arrays[] = {a->p, a->u[0], a->u[1], a->u[2]};
    for (int i = 0; i < 4; i++) memset(arrays[i] + z * f->plane, 0, sizeof(double) * (size_t)f->plane);
    for (int b = 0; b < FACES; b++)
      if (f->layers[b] > 0 && z >= f->layer[b].z0 && z < f->layer[b].z1)
        memset(a->split[b] + z * split_plane(f, b), 0, sizeof(double) * (size_t)split_plane(f, b));
  }
}

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

/* The fields of a checkpoint: p, u, the layers' parts of p, and what probes have measured in `step` steps. */
static int slabs_of(const fdtd* f, const fields* a, int step, slab slabs[]) {
  const size_t row = sizeof(double) * (size_t)f->row;
  double* const arrays[] = {a->p, a->u[0], a->u[1], a->u[2]};
  int count = 0;
  for (int i = 0; i < 4; i++)
    slabs[count++] = (slab){.from = PAD,
                            .to = PAD + f->size[2],
                            .first = f->first,
                            .last = f->last,
                            .rows = f->size[1] + 2 * PAD,
                            .row_bytes = row,
                            .row_pitch = row,
                            .plane_pitch = row * (size_t)f->rows,
                            .data = planes_of(f, arrays[i])};
  for (int b = 0; b < FACES; b++) {
    const size_t bytes = sizeof(double) * (size_t)split_plane(f, b);
    if (f->layers[b] > 0)
      slabs[count++] = (slab){.from = f->layer[b].z0,
                              .to = f->layer[b].z1,
                              .first = f->first,
                              .last = f->last,
                              .rows = SPLIT,
                              .row_bytes = bytes / SPLIT,
                              .row_pitch = bytes / SPLIT,
                              .plane_pitch = bytes,
                              .data = a->split[b] + f->first * split_plane(f, b)};
  }
  const size_t recorded = sizeof(double) * (size_t)f->steps;
  if (f->probe_count > 0 && step > 0)
    slabs[count++] = (slab){.from = PAD,
                            .to = PAD + f->size[2],
                            .first = f->first,
                            .last = f->last,
                            .rows = f->probe_count,
                            .row_bytes = sizeof(double) * (size_t)step,
                            .row_pitch = recorded,
                            .plane_pitch = recorded * (size_t)f->probe_count,
                            .data = f->record};
  return count;
}

enum { MOST_SLABS = 4 + FACES + 1 };

static checkpoint header_of(const fdtd* f, int step) {
  checkpoint h = {.program = "fdtd", .version = CHECKPOINT_VERSION, .step = step};
  for (int d = 0; d < 3; d++) h.size[d] = f->size[d];
  const int* l = f->layers;
  size_t used =
      (size_t)snprintf(h.settings, sizeof h.settings,
                       "courant %.17g, layers %d,%d,%d,%d,%d,%d order %.17g r0 %.17g, solid %016llx, pulse %d",
                       f->courant, l[0], l[1], l[2], l[3], l[4], l[5], f->order, f->reflection,
                       (unsigned long long)f->geometry, f->wave_file == NULL ? f->pulse_width : -1);
  for (int i = 0; i < f->source_count + f->probe_count && used < sizeof h.settings; i++) {
    const bool source = i < f->source_count;
    used += (size_t)snprintf(h.settings + used, sizeof h.settings - used, ", %s %s", source ? "source" : "probe",
                             source ? f->sources[i].text : f->probes[i - f->source_count].text);
  }
  return h;
}

void fdtd_save(fdtd* f, int step, const fields* a) {
  char path[4096];
  snprintf(path, sizeof path, "%s/checkpoint", f->folder);
  checkpoint h = header_of(f, step);
  slab slabs[MOST_SLABS];
  const int count = slabs_of(f, a, step, slabs);
  checkpoint_save(&f->team, path, &h, slabs, count);
}

void fdtd_open_restart(fdtd* f) {
  if (f->restart == NULL) return;
  const checkpoint mine = header_of(f, 0);
  checkpoint found;
  checkpoint_open(&f->team, f->restart, &mine, &found);
  team_agree(&f->team, found.step >= 0 && found.step <= f->steps, TEAM_BAD_INPUT,
             "--restart %s is at step %lld, --steps is only %d", f->restart, (long long)found.step, f->steps);
  f->step = (int)found.step;
}

static void load(fdtd* f, fields* a) {
  const checkpoint mine = header_of(f, 0);
  checkpoint found;
  checkpoint_open(&f->team, f->restart, &mine, &found);
  slab slabs[MOST_SLABS];
  const int count = slabs_of(f, a, f->step, slabs);
  checkpoint_load(&f->team, f->restart, &mine, &found, slabs, count);
}

void fdtd_fill(fdtd* f, fields* a) {
  if (f->probe_count > 0) {
    const size_t samples = (size_t)(f->last - f->first) * (size_t)f->probe_count * (size_t)f->steps;
    f->record = calloc(samples > 0 ? samples : 1, sizeof *f->record);
    team_agree(&f->team, f->record != NULL, TEAM_BAD_INPUT, "no memory for %d steps of the probes", f->steps);
  }
  fill_zero(f, a);
  if (is(f->start, "mode")) fill_mode(f, a);
  if (is(f->start, "noise")) fill_noise(f, a);
  if (f->restart != NULL) load(f, a);
  for (int z = f->lo; z < f->hi; z++)
    for (int y = PAD; y < PAD + f->size[1]; y++)
      mirror_p(a->p + fdtd_at(f, z, y, 0), PAD_X, PAD_X + f->size[0], PAD_X + f->size[0]);
}

/* ---- the right answer -------------------------------------------------------------------------------------------- */

/* The angle by which the standing wave turns in a step: sin(w/2) = S |k|, where k is what rise() makes of it. */
static double turn(const fdtd* f) {
  double sum = 0;
  for (int d = 0; d < 3; d++) {
    const double k = modes[d] * pi / f->size[d];
    const double slope = 9.0 / 8 * sin(k / 2) - 1.0 / 24 * sin(3 * k / 2);
    sum += slope * slope;
  }
  return 2 * asin(f->courant * sqrt(sum));
}

static double mode_error(fdtd* f, const fields* a) {
  double* c[3];
  for (int d = 0; d < 3; d++) c[d] = cosine(f, d);
  const double *cx = c[0], *cy = c[1], *cz = c[2], now = cos(f->steps * turn(f));
  double worst = 0;
#pragma omp parallel for schedule(static) reduction(max : worst)
  for (int z = f->lo; z < f->hi; z++)
    for (int y = PAD; y < PAD + f->size[1]; y++)
      for (int x = PAD_X; x < PAD_X + f->size[0]; x++) {
        const double error = fabs(a->p[fdtd_at(f, z, y, x)] - now * (cx[x] * cy[y] * cz[z]));
        if (!(error <= worst)) worst = isnan(error) ? INFINITY : error;
      }
  for (int d = 0; d < 3; d++) free(c[d]);
  return team_max(&f->team, worst);
}

/* In a closed box the scheme conserves E = 1/2 sum p(n)^2 + 1/2 sum u(n+1/2) u(n-1/2), and the sum of p. */
static void conserved(fdtd* f, const fields* a, double* energy, double* mass) {
  const double* p = a->p;
  const unsigned char* solid = f->solid;
  const ptrdiff_t step[3] = {1, f->row, f->plane};
  double all_e = 0, all_m = 0;
#pragma omp parallel for schedule(static) reduction(+ : all_e, all_m)
  for (int z = f->lo; z < f->hi; z++)
    for (int y = PAD; y < PAD + f->size[1]; y++) {
      double e = 0, m = 0; /* row by row, which rounds less */
      for (int x = PAD_X; x < PAD_X + f->size[0]; x++) {
        const ptrdiff_t at = fdtd_at(f, z, y, x);
        if (solid[at]) continue;
        m += p[at];
        e += p[at] * p[at] / 2;
        for (int d = 0; d < 3; d++) {
          const ptrdiff_t s = step[d];
          if (solid[at - s]) continue;
          const double u = a->u[d][at];
          const double in = rise_p(p[at - 2 * s], p[at - s], p[at], p[at + s], solid[at - 2 * s], solid[at + s]);
          e += u * (u - f->courant * in) / 2;
        }
      }
      all_e += e;
      all_m += m;
    }
  *energy = team_sum(&f->team, all_e);
  *mass = team_sum(&f->team, all_m);
}

void fdtd_check_begin(fdtd* f, const fields* a) {
  if (f->verify && is(f->start, "noise")) conserved(f, a, &f->energy, &f->mass);
}

void fdtd_check(fdtd* f, const fields* a) {
  if (!f->verify) return;
  f->limit = tolerance;
  if (is(f->start, "mode")) {
    f->error = mode_error(f, a);
    return;
  }
  double energy, mass;
  conserved(f, a, &energy, &mass);
  const double cells = f->run.work;
  f->error = fmax(fabs(energy - f->energy) / f->energy, fabs(mass - f->mass) / sqrt(2 * f->energy * cells));
  if (!isfinite(f->error)) f->error = INFINITY;
}
