/* What the variants of laplace share: options, start values, check, report. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/bits.h"
#include "../common/files.h"
#include "../common/memory.h"
#include "../common/options.h"
#include "laplace.h"

static const double pi = 3.14159265358979323846;
enum { MODE_Y = 2, MODE_X = 3 }; /* half waves of the sine mode */
enum { BEFORE = 8 };             /* points of a row before those of the block: these begin at a cache line */

/* laplace.c of the Omni compiler says: the sum of |last step - the one before|. */
enum { OMNI_SIZE = 64, OMNI_STEPS = 100 };
static const double omni_sum = 5.5488557664881109;

static const double tolerance = 1e-12;

static const option options[] = {
    {"--size", "N", "N x N points, the rim included, at least 3 (default 512)", OPTION_NUMBER,
     offsetof(laplace, run) + offsetof(tiled, size)},
    {"--tile", "N or ROWS,COLUMNS or auto", "points of a tile (default 256); auto: the best by trials", OPTION_TEXT,
     offsetof(laplace, run) + offsetof(tiled, tile_text)},
    {"--start", "sine or omni", "a sine mode (default), or the start of Omni's laplace.c", OPTION_TEXT,
     offsetof(laplace, start)},
    TILED_OPTIONS(laplace, run),
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static void print_help(const laplace* l) {
  printf(
      "%s: the Laplace equation by Jacobi's method: u' = (N + S + W + E) / 4, the rim stays 0\n\n"
      "A sine mode decays by a known factor per step, so --verify knows the answer; of --start omni it knows the\n"
      "checksum for --size %d --steps %d.\n\n",
      l->run.team.program, OMNI_SIZE, OMNI_STEPS);
  options_print(options, OPTIONS);
  printf(
      "\nTry\n"
      "  OMP_NUM_THREADS=2 laplace_omp_tasks --size 2048 --tile auto --verify\n"
      "  mpirun -n 2 laplace_mpi_tasks --size 2048 --tile 256 --verify\n");
}

static bool is_sine(const laplace* l) { return strcmp(l->start, "sine") == 0; }

/* ---- who has what ------------------------------------------------------------------------------------------------ */

/* An odd number of cache lines that hold as many points: with an even one rows share sets of caches. */
static ptrdiff_t pitch_of(int points) {
  const int line = 8;
  return ((points + line - 1) / line | 1) * (ptrdiff_t)line;
}

/* As square as the number of ranks allows; rather more rows, for messages of a row need no packing. */
static void divide(laplace* l) {
  const team* team = &l->run.team;
  l->ranks[1] = 1;
  for (int d = 2; d * d <= team->count; d++)
    if (team->count % d == 0) l->ranks[1] = d;
  l->ranks[0] = team->count / l->ranks[1];
  l->place[0] = team->rank / l->ranks[1];
  l->place[1] = team->rank % l->ranks[1];
  const long long n = l->run.size;
  team_agree(team, n >= l->ranks[0], TEAM_BAD_INPUT,
             "%d x %d ranks are more than the points, %lld in each direction; use fewer ranks or a larger --size",
             l->ranks[0], l->ranks[1], n);
  for (int d = 0; d < 2; d++) {
    l->first[d] = (int)(n * l->place[d] / l->ranks[d]);
    const int after = (int)(n * (l->place[d] + 1) / l->ranks[d]);
    l->extent[d] = after - l->first[d];
    l->lowest[d] = l->first[d] == 0;
    l->end[d] = l->extent[d] - (after == n);
  }
  l->pitch = pitch_of(BEFORE + l->extent[1] + 1);
}

void laplace_divide_rows(laplace* l) {
  const int n = l->run.size, share = (n - 1) / l->run.team.count + 1;
  l->first[0] = smaller(share * l->run.team.rank, n), l->extent[0] = smaller(share, n - l->first[0]);
  l->first[1] = 0, l->extent[1] = n;
  l->pitch = pitch_of(n);
}

size_t laplace_points(const laplace* l) { return (size_t)(l->extent[0] + 2) * (size_t)l->pitch; }

size_t laplace_origin(const laplace* l) { return (size_t)l->pitch + BEFORE; }

/* ---- start ------------------------------------------------------------------------------------------------------- */

void laplace_begin(laplace* l, team team, int threads, int argc, char** argv) {
  memset(l, 0, sizeof *l);
  l->run.team = team;
  l->run.threads = threads;
  l->run.size = 512;
  l->run.steps = 100;
  l->run.tile_text = "256";
  l->start = "sine";
  options_read(&team, options, OPTIONS, l, argc, argv);
  if (l->run.help) {
    if (team.rank == 0) print_help(l);
    team_leave(&team);
    exit(0);
  }
  const int n = l->run.size;
  team_agree(&team, n >= 3, TEAM_BAD_INPUT, "--size %d has no points inside the rim; use at least 3", n);
  team_agree(&team, is_sine(l) || strcmp(l->start, "omni") == 0, TEAM_BAD_INPUT, "--start '%s' is not sine or omni",
             l->start);
  team_agree(&team, is_sine(l) || !l->run.verify || (n == OMNI_SIZE && l->run.steps == OMNI_STEPS), TEAM_BAD_INPUT,
             "--verify knows the answer of --start omni for --size %d --steps %d only", OMNI_SIZE, OMNI_STEPS);
  if (l->run.json != NULL && strcmp(l->run.json, "-") != 0) files_check_writable(&team, "--json", l->run.json);
  tiles_option(&team, l->run.tile_text, 2); /* before memory is taken */
  divide(l);
  l->run.run.unit = "LUP";
  l->run.run.work = (n - 2.0) * (n - 2.0);
}

void laplace_private(laplace* l) {
  const double bytes = (double)laplace_points(l) * sizeof(double);
  memory_check(&l->run.team, 2 * bytes, l->run.team.program);
  for (int f = 0; f < 2; f++) {
    l->memory[f] = memory_pages((size_t)bytes);
    l->field[f] = (double*)l->memory[f] + laplace_origin(l);
  }
  team_agree(&l->run.team, l->memory[0] != NULL && l->memory[1] != NULL, TEAM_BAD_INPUT,
             "no memory for two fields of %.1f GiB; use a smaller --size", bytes / 1073741824);
}

/* One direction of the sine mode, exactly 0 on the rim. */
static double sine(int mode, int i, int n) { return i == 0 || i == n - 1 ? 0 : sin(mode * pi * i / (n - 1)); }

static double value(const laplace* l, int i, int j, const double* sines) {
  const int n = l->run.size, y = l->first[0] + i, x = l->first[1] + j;
  if (y <= 0 || x <= 0 || y >= n - 1 || x >= n - 1) return 0;
  if (is_sine(l)) return sine(MODE_Y, y, n) * sines[j];
  return sin((double)x / n * pi) + cos((double)y / n * pi);
}

/* The sines of all columns of the block; for free(). */
static double* column_sines(const laplace* l) {
  double* const sines = calloc((size_t)l->extent[1], sizeof *sines);
  team_agree(&l->run.team, sines != NULL, TEAM_BAD_INPUT, "no memory for a row of points");
  for (int j = 0; j < l->extent[1]; j++) sines[j] = sine(MODE_X, l->first[1] + j, l->run.size);
  return sines;
}

/* Both fields. The layer around the block is the neighbours'. */
static void fill(laplace* l) {
  double* const sines = column_sines(l);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < l->extent[0]; i++)
    for (int j = 0; j < l->extent[1]; j++) {
      const ptrdiff_t at = i * l->pitch + j;
      l->field[0][at] = l->field[1][at] = value(l, i, j, sines);
    }
  free(sines);
}

/* ---- end --------------------------------------------------------------------------------------------------------- */

/* The largest difference from the exact solution: the mode of the start times its decay. */
static double largest_error(const laplace* l, const double* field) {
  const int n = l->run.size;
  const double decay = pow((cos(MODE_Y * pi / (n - 1)) + cos(MODE_X * pi / (n - 1))) / 2, l->run.steps);
  double* const sines = column_sines(l);
  double worst = 0;
#pragma omp parallel for schedule(static) reduction(max : worst)
  for (int i = 0; i < l->extent[0]; i++) {
    const double row = decay * sine(MODE_Y, l->first[0] + i, n);
    for (int j = 0; j < l->extent[1]; j++) {
      const double error = fabs(field[i * l->pitch + j] - row * sines[j]);
      if (!(error <= worst)) worst = isnan(error) ? INFINITY : error;
    }
  }
  free(sines);
  return team_max(&l->run.team, worst);
}

static double omni_error(const laplace* l) {
  double sum = 0;
  for (int i = 0; i < l->extent[0]; i++)
    for (int j = 0; j < l->extent[1]; j++) sum += fabs(l->field[0][i * l->pitch + j] - l->field[1][i * l->pitch + j]);
  return fabs(team_sum(&l->run.team, sum) - omni_sum);
}

static uint64_t bits(const laplace* l, const double* field) {
  uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int i = 0; i < l->extent[0]; i++) {
    const uint64_t row = (uint64_t)(l->first[0] + i) * (uint64_t)l->run.size + (uint64_t)l->first[1];
    for (int j = 0; j < l->extent[1]; j++) sum += bits_of(row + (uint64_t)j, &field[i * l->pitch + j], sizeof *field);
  }
  return team_sum_bits(&l->run.team, sum);
}

static void set_tiles(laplace* l) {
  const int size[2] = {l->run.tile.rows, l->run.tile.columns};
  for (int d = 0; d < 2; d++) l->tiles[d] = (l->extent[d] + size[d] - 1) / size[d];
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

typedef struct variant {
  laplace* l;
  tiled_steps steps;
} variant;

/* Trials change the tile, so the number of tiles is computed anew for each chunk of steps. */
static void run_steps(void* of, int from, int to) {
  const variant* const variant = of;
  set_tiles(variant->l);
  variant->steps(variant->l, from, to);
}

int laplace_run(laplace* l, tiled_steps steps) {
  static const tile candidates[] = {{128, 128}, {256, 256},  {512, 512}, {1024, 1024}, {4, 8192}, {16, 8192},
                                    {64, 8192}, {256, 8192}, {64, 2048}, {256, 2048},  {64, 512}, {1024, 8192}};
  static const char* const categories[] = {"calc", "comm", NULL};
  variant variant = {l, steps};
  const bool automatic = strcmp(l->run.tile_text, "auto") == 0;
  if (automatic) fill(l); /* trials work on points, too */
  tiled_choose(&l->run, l->run.team.program, 2, l->run.size, candidates, sizeof candidates / sizeof *candidates,
               run_steps, &variant);
  fill(l);
  const bool done = tiled_run(&l->run, categories, run_steps, &variant);
  tiled_answer answer = {.limit = tolerance, .name = is_sine(l) ? "largest error" : "difference from Omni's checksum"};
  const double* const field = l->field[l->run.steps % 2];
  if (done) answer.bits = bits(l, field);
  if (done && l->run.verify) answer.error = is_sine(l) ? largest_error(l, field) : omni_error(l);
  for (int f = 0; f < 2; f++) free(l->memory[f]);
  return done ? tiled_finish(&l->run, &answer) : tiled_stopped(&l->run);
}
