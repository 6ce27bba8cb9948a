/* What the variants of nbody share: options, start values, report. check.c has what --verify does. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/bits.h"
#include "../common/files.h"
#include "../common/memory.h"
#include "../common/options.h"
#include "check.h"
#include "nbody.h"

static const double pi = 3.14159265358979323846;

/* Of BSC's nbody: metres, kilograms, seconds. */
static const double box_gravity = 6.6726e-11, box_extent = 1e10, box_mass = 1e28, box_step = 1;

static const option options[] = {
    {"--size", "N", "bodies (default 2048)", OPTION_NUMBER, offsetof(nbody, run) + offsetof(tiled, size)},
    {"--tile", "N or auto", "bodies of a strip (default 256); auto: the best by trials", OPTION_TEXT,
     offsetof(nbody, run) + offsetof(tiled, tile_text)},
    {"--kind", "float or double", "float: as BSC's nbody; double (default): leapfrog", OPTION_TEXT,
     offsetof(nbody, kind)},
    {"--start", "box or kepler", "bodies at random in a box (default), or two on an ellipse", OPTION_TEXT,
     offsetof(nbody, start)},
    {"--seed", "K", "of the bodies in a box (default 12345)", OPTION_COUNT, offsetof(nbody, seed)},
    {"--orbits", "K", "with --start kepler: in --steps steps (default 10)", OPTION_NUMBER, offsetof(nbody, orbits)},
    TILED_OPTIONS(nbody, run),
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static void print_help(const nbody* n) {
  printf(
      "%s: bodies that attract each other; every step computes the forces of all on all\n\n"
      "--verify compares with plain loops in double precision; with --start kepler the energy has to be kept as well\n"
      "as a leapfrog of this step keeps it.\n\n",
      n->run.team.program);
  options_print(options, OPTIONS);
  printf(
      "\nTry\n"
      "  OMP_NUM_THREADS=2 nbody_omp_tasks --size 4096 --tile auto --verify\n"
      "  mpirun -n 2 nbody_mpi_tasks --size 4096 --kind float --verify\n"
      "  nbody_serial --start kepler --steps 1000 --verify\n");
}

static size_t number_bytes(const nbody* n) { return n->floats ? sizeof(float) : sizeof(double); }

static void check_options(const nbody* n) {
  const team* team = &n->run.team;
  team_agree(team, n->floats || strcmp(n->kind, "double") == 0, TEAM_BAD_INPUT, "--kind '%s' is not float or double",
             n->kind);
  team_agree(team, n->kepler || strcmp(n->start, "box") == 0, TEAM_BAD_INPUT, "--start '%s' is not box or kepler",
             n->start);
  team_agree(team, !n->kepler || (n->run.size == 2 && !n->floats), TEAM_BAD_INPUT,
             "--start kepler has two bodies, and steps as --kind double has them; leave out --size and --kind");
  team_agree(team, n->run.size <= options_limit() / 3, TEAM_BAD_INPUT, "--size %d is more than %d bodies", n->run.size,
             options_limit() / 3);
  if (n->run.json != NULL && strcmp(n->run.json, "-") != 0) files_check_writable(team, "--json", n->run.json);
  tiles_option(team, n->run.tile_text, 1); /* before memory is taken */
}

void nbody_begin(nbody* n, team team, int threads, int argc, char** argv) {
  memset(n, 0, sizeof *n);
  n->run.team = team;
  n->run.threads = threads;
  n->run.steps = 10;
  n->run.tile_text = "256";
  n->start = "box";
  n->kind = "double";
  n->orbits = 10;
  n->seed = 12345;
  options_read(&team, options, OPTIONS, n, argc, argv);
  if (n->run.help) {
    if (team.rank == 0) print_help(n);
    team_leave(&team);
    exit(0);
  }
  n->floats = strcmp(n->kind, "float") == 0;
  n->kepler = strcmp(n->start, "kepler") == 0;
  if (n->run.size == 0) n->run.size = n->kepler ? 2 : 2048;
  check_options(n);
  n->gravity = n->kepler ? 1 : box_gravity;
  n->step = n->kepler ? 2 * pi * n->orbits / n->run.steps : box_step;
  n->run.run.unit = "pair";
  n->run.run.work = (double)n->run.size * n->run.size;
}

void nbody_private(nbody* n) {
  const size_t bytes = 3 * (size_t)n->run.size * number_bytes(n);
  void** const arrays[] = {&n->mass, &n->velocity, &n->force, &n->position[0], &n->position[1]};
  const size_t count = n->share != NULL ? 1 : 5;
  memory_check(&n->run.team, 5.0 * (double)bytes, n->run.team.program);
  bool good = true;
  for (size_t i = 0; i < count; i++) {
    *arrays[i] = memory_pages(bytes);
    good = good && *arrays[i] != NULL;
  }
  team_agree(&n->run.team, good, TEAM_BAD_INPUT, "no memory for %d bodies; use a smaller --size", n->run.size);
}

/* ---- start ------------------------------------------------------------------------------------------------------- */

/* The same numbers on every machine (splitmix64), from 0 to 1, and as exact in float as in double. */
static double uniform(uint64_t seed, uint64_t index) {
  const uint64_t x = seed * UINT64_C(0xd1342543de82ef95) + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
  return (double)(mix_bits(x) >> 40) / 16777216;
}

body nbody_first_place(const nbody* n, int i) {
  if (n->kepler) { /* an ellipse of eccentricity 1/2 and half axis 1, from the nearest point; masses 3/4 and 1/4 */
    const double part = i == 0 ? -0.25 : 0.75;
    return (body){.x = {part * 0.5, 0, 0}, .v = {0, part * sqrt(3), 0}, .mass = i == 0 ? 0.75 : 0.25};
  }
  body b = {.mass = 0};
  for (int d = 0; d < 3; d++) b.x[d] = (float)(box_extent * uniform((uint64_t)n->seed, 4 * (uint64_t)i + (uint64_t)d));
  b.mass = (float)(box_mass * (1 - uniform((uint64_t)n->seed, 4 * (uint64_t)i + 3))); /* never 0 */
  return b;
}

static void put(const nbody* n, void* array, size_t at, double value) {
  if (n->floats) ((float*)array)[at] = (float)value;
  else ((double*)array)[at] = value;
}

double nbody_number(const nbody* n, const void* array, int i, int d) {
  const int tile = n->run.tile.rows, strip = i / tile;
  const size_t at = 3 * (size_t)strip * (size_t)tile + (size_t)(d * nbody_strip_bodies(n, strip) + i % tile);
  return n->floats ? (double)((const float*)array)[at] : ((const double*)array)[at];
}

static void set_strips(nbody* n) {
  n->strips = (n->run.size + n->run.tile.rows - 1) / n->run.tile.rows;
  n->first = nbody_first_strip(n, n->run.team.rank);
  n->end = nbody_first_strip(n, n->run.team.rank + 1);
  if (n->share != NULL) n->share(n);
}

static void fill(nbody* n) {
  for (int s = 0; s < n->strips; s++) {
    const bool here = n->share == NULL || (s >= n->first && s < n->end);
    const int bodies = nbody_strip_bodies(n, s);
    for (int i = 0; i < bodies; i++) {
      const size_t body_at = (size_t)s * (size_t)n->run.tile.rows;
      const body b = nbody_first_place(n, (int)body_at + i);
      put(n, n->mass, body_at + (size_t)i, b.mass);
      for (int d = 0; here && d < 3; d++) {
        const size_t at = 3 * body_at + (size_t)(d * bodies + i);
        for (int p = 0; p < 2; p++) put(n, n->position[p], at, b.x[d]);
        put(n, n->velocity, at, b.v[d]);
        put(n, n->force, at, 0);
      }
    }
  }
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static uint64_t bits(const nbody* n) {
  uint64_t sum = 0;
  const int tile = n->run.tile.rows;
  for (int i = n->first * tile; i < smaller(n->end * tile, n->run.size); i++)
    for (int d = 0; d < 3; d++) {
      const double x = nbody_number(n, n->position[n->run.steps % 2], i, d), v = nbody_number(n, n->velocity, i, d);
      const uint64_t at = 6 * (uint64_t)i + (uint64_t)d;
      sum += bits_of(at, &x, sizeof x) + bits_of(at + 3, &v, sizeof v);
    }
  return team_sum_bits(&n->run.team, sum);
}

typedef struct variant {
  nbody* n;
  tiled_steps steps;
  orbit orbit;
} variant;

static void run_steps(void* of, int from, int to) {
  const variant* const variant = of;
  variant->steps(variant->n, from, to);
}

/* A trial changes the strips: who has which, and the start. */
static void try_steps(void* of, int from, int to) {
  const variant* const variant = of;
  set_strips(variant->n);
  fill(variant->n);
  variant->steps(variant->n, from, to);
}

/* Two bodies, whose energy is wanted after every step. */
static void run_orbit(void* of, int from, int to) {
  variant* const variant = of;
  for (int step = from; step < to; step++) {
    run_steps(of, step, step + 1);
    orbit_add(&variant->orbit, variant->n, step + 1);
  }
}

int nbody_run(nbody* n, tiled_steps steps) {
  static const tile candidates[] = {{64, 64},     {128, 128},   {256, 256},   {512, 512},
                                    {1024, 1024}, {2048, 2048}, {4096, 4096}, {8192, 8192}};
  static const char* const categories[] = {"calc", "update", "comm", NULL};
  variant variant = {.n = n, .steps = steps};
  char what[64];
  snprintf(what, sizeof what, "%s %s", n->run.team.program, n->kind);
  tiled_choose(&n->run, what, 1, n->run.size, candidates, sizeof candidates / sizeof *candidates, try_steps, &variant);
  set_strips(n);
  fill(n);
  const bool done = tiled_run(&n->run, categories, n->kepler && n->run.verify ? run_orbit : run_steps, &variant);
  tiled_answer answer = {.limit = 1, .name = "largest error, as part of its limit"};
  if (done) answer.bits = bits(n);
  tiled_figure found[NBODY_FIGURES] = {{NULL, 0}};
  if (done && n->run.verify) answer.error = nbody_check(n, &variant.orbit, found);
  answer.more = found;
  void* const arrays[] = {n->mass, n->velocity, n->force, n->position[0], n->position[1]};
  for (int i = 0; i < (n->share != NULL ? 1 : 5); i++) free(arrays[i]);
  return done ? tiled_finish(&n->run, &answer) : tiled_stopped(&n->run);
}
