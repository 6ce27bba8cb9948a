#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../common/files.h"
#include "../common/memory.h"
#include "../common/options.h"
#include "../common/tiles.h"
#include "cholesky.h"
#include "kernels.h"

enum { LEAST_TILE = 64, MOST_TILE = 1024, MOST_TRIAL = 8192 }; /* of --tile auto */

static const char* const steps_of_time[] = {"potrf", "trsm", "syrk", "gemm", "comm", NULL};
static const double residual_limit = 30; /* LAPACK's, for its own tests */

/* ---- options ----------------------------------------------------------------------------------------------------- */

static const option options[] = {
    {"--size", "N", "the matrix has N x N numbers (default 1024)", OPTION_NUMBER, offsetof(cholesky, n)},
    {"--tile", "B|auto", "the tiles have B x B (default 256); auto: the best power of two, found by trials",
     OPTION_TEXT, offsetof(cholesky, tile_text)},
    {"--steps", "K", "factorise it K times, and report the median (default 1)", OPTION_NUMBER,
     offsetof(cholesky, steps)},
    {"--verify", NULL, "multiply the factor with its transposed; exit status 1 if LAPACK's residual is above 30",
     OPTION_FLAG, offsetof(cholesky, verify)},
    {"--indefinite", "K", "make the K-th number of the diagonal -1, to see how that ends", OPTION_NUMBER,
     offsetof(cholesky, indefinite)},
    {"--progress", NULL, "show progress on standard error even if that is not a terminal", OPTION_FLAG,
     offsetof(cholesky, run) + offsetof(run, progress)},
    {"--json", NULL, "print the report as one line of JSON", OPTION_FLAG, offsetof(cholesky, json)},
    {"--help", NULL, "print this", OPTION_FLAG, offsetof(cholesky, help)},
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static void print_help(const cholesky* c) {
  printf(
      "%s: the Cholesky factorisation A = L L^T of a dense matrix, tile by tile, in double precision\n\n"
      "A has the numbers of LAPACK's dlarnv, made symmetric, and N added on the diagonal.\n\n",
      c->team.program);
  options_print(options, OPTIONS);
  printf(
      "\nTry\n"
      "  cholesky_serial --size 2048 --tile 256 --verify\n"
      "  cholesky_omp_tasks --size 4096 --tile 256 --steps 5 --json\n"
      "  mpirun -n 2 cholesky_mpi_tasks --size 4096 --tile 256 --verify\n"
      "Threads per rank: the environment variable OMP_NUM_THREADS.\n");
}

/* The grid of ranks, as square as it can be. A column of it shares the panel of a step, so it has more rows. */
static void divide_ranks(cholesky* c) {
  c->columns = (int)sqrt(c->team.count);
  while (c->team.count % c->columns != 0) c->columns--;
  c->rows = c->team.count / c->columns;
}

static void divide_into_tiles(cholesky* c, int tile) {
  const team* team = &c->team;
  c->tile = smaller(tile, c->n);
  c->tiles = (c->n + c->tile - 1) / c->tile;
  team_agree(team, c->tile <= INT_MAX / c->tile, TEAM_BAD_INPUT,
             "tiles of %d x %d numbers are more than MPI sends at once; use a smaller --tile", c->tile, c->tile);
  team_agree(team, c->tiles <= INT_MAX / c->tiles, TEAM_BAD_INPUT,
             "%d x %d tiles are more than this program can number; use a larger --tile", c->tiles, c->tiles);
  c->at = calloc((size_t)c->tiles * (size_t)c->tiles, sizeof *c->at);
  team_agree(team, c->at != NULL, TEAM_BAD_INPUT, "no memory for a list of %d x %d tiles", c->tiles, c->tiles);
  c->program->open(c);
}

static void release_tiles(cholesky* c) {
  if (c->program->close != NULL) c->program->close(c);
  free(c->memory);
  free(c->at);
  c->memory = NULL;
}

void cholesky_begin(cholesky* c, const cholesky_program* program, team team, int argc, char** argv) {
  *c = (cholesky){.team = team, .program = program, .n = 1024, .tile_text = "256", .steps = 1, .threads = 1};
#ifdef _OPENMP
  c->threads = omp_get_max_threads();
#endif
  c->team.count = larger(team.count, 1);
  c->team.program = program->name;
  options_read(&c->team, options, OPTIONS, c, argc, argv);
  if (c->help) {
    if (team.rank == 0) print_help(c);
    team_leave(&c->team);
    exit(0);
  }
  c->tile = tiles_option(&c->team, c->tile_text, 1).rows;
  team_agree(&c->team, c->indefinite <= c->n, TEAM_BAD_INPUT, "--indefinite %d: the diagonal has %d numbers",
             c->indefinite, c->n);
  divide_ranks(c);
  c->seconds = calloc((size_t)c->steps, sizeof *c->seconds);
  team_agree(&c->team, c->seconds != NULL, TEAM_BAD_INPUT, "no memory for the times of %d steps", c->steps);
  split_open(&c->split, &c->team, steps_of_time, c->threads);
  kernels_threads(1);
}

void cholesky_private(cholesky* c) {
  const size_t n = (size_t)c->n, tile = (size_t)c->tile;
  const bool whole = c->program->whole;
  size_t numbers = 0;
  for (int j = 0; j < c->tiles; j++)
    for (int i = j; i < c->tiles; i++) numbers += cholesky_mine(c, i, j) ? cholesky_numbers(c, i, j) : 0;
  if (whole) numbers = n * n;
  memory_check(&c->team, sizeof(double) * (double)numbers, "the matrix");
  c->memory = memory_pages(numbers * sizeof(double));
  team_agree(&c->team, c->memory != NULL, TEAM_BAD_INPUT, "no memory for the matrix; use a smaller --size");
  double* next = c->memory;
  for (int j = 0; j < c->tiles; j++)
    for (int i = j; i < c->tiles; i++) {
      if (!cholesky_mine(c, i, j)) continue;
      c->at[(size_t)i + (size_t)j * (size_t)c->tiles] =
          whole ? c->memory + (size_t)i * tile + (size_t)j * tile * n : next;
      next += cholesky_numbers(c, i, j);
    }
}

/* ---- the steps --------------------------------------------------------------------------------------------------- */

/* Steps that other threads have begun may go on when it is set, on tiles that nobody needs then. */
static bool failed(const cholesky* c) { return __atomic_load_n(&c->info, __ATOMIC_RELAXED) != 0; }

double cholesky_spent(cholesky* c, int category, double since) {
  return split_add(&c->split, c->program->thread != NULL ? c->program->thread() : 0, category, since);
}

void cholesky_potrf(cholesky* c, int k) {
  if (failed(c)) return;
  const double start = team_now();
  const int info = kernel_potrf(cholesky_extent(c, k), cholesky_tile(c, k, k), cholesky_lead(c, k));
  if (info > 0) __atomic_store_n(&c->info, k * c->tile + info, __ATOMIC_RELAXED);
  cholesky_spent(c, CHOLESKY_POTRF, start);
}

void cholesky_trsm(cholesky* c, int i, int k, const double* diagonal) {
  if (failed(c)) return;
  const double start = team_now();
  kernel_trsm(cholesky_extent(c, i), cholesky_extent(c, k), diagonal, cholesky_lead(c, k), cholesky_tile(c, i, k),
              cholesky_lead(c, i));
  cholesky_spent(c, CHOLESKY_TRSM, start);
}

void cholesky_update(cholesky* c, int i, int j, int k, const double* left, const double* right) {
  if (failed(c)) return;
  const double start = team_now();
  const int rows = cholesky_extent(c, i), depth = cholesky_extent(c, k), lead = cholesky_lead(c, i);
  double* const tile = cholesky_tile(c, i, j);
  if (i == j) kernel_syrk(rows, depth, left, lead, tile, lead);
  else kernel_gemm(rows, cholesky_extent(c, j), depth, left, lead, right, cholesky_lead(c, j), tile, lead);
  cholesky_spent(c, i == j ? CHOLESKY_SYRK : CHOLESKY_GEMM, start);
}

int cholesky_triangle(const cholesky* c, int first) {
  const int side = c->tiles - first;
  return side * (side + 1) / 2;
}

/* Counted from the end, the columns have 1, 2, .. tiles. */
void cholesky_at_index(const cholesky* c, int first, int index, int* i, int* j) {
  const int from_end = cholesky_triangle(c, first) - 1 - index;
  int column = (int)((sqrt(8.0 * from_end + 1) - 1) / 2);
  while (column * (column + 1) / 2 > from_end) column--; /* for the rounding of the root */
  while ((column + 1) * (column + 2) / 2 <= from_end) column++;
  *j = c->tiles - 1 - column;
  *i = c->tiles - 1 - (from_end - column * (column + 1) / 2);
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static void fill(cholesky* c) {
  c->info = 0;
#pragma omp parallel for schedule(dynamic)
  for (int index = 0; index < cholesky_triangle(c, 0); index++) {
    int i, j;
    cholesky_at_index(c, 0, index, &i, &j);
    if (cholesky_mine(c, i, j)) matrix_fill(c, i, j, cholesky_tile(c, i, j), cholesky_lead(c, i));
  }
}

/* The smallest of the ranks: an order that fails makes all later ones fail, too. */
static void agree_on_info(cholesky* c) {
  const int first = (int)-team_max(&c->team, -(double)(c->info > 0 ? c->info : INT_MAX));
  c->info = first < INT_MAX ? first : 0;
  if (c->info != 0) release_tiles(c);
  team_agree(&c->team, c->info == 0, TEAM_BAD_INPUT,
             "the matrix is not positive definite: its leading minor of order %d is not (LAPACK's info = %d)", c->info,
             c->info);
}

static double factor_once(cholesky* c) {
  fill(c);
  team_max(&c->team, 0);
  const double start = team_now();
  c->program->factor(c);
  const double seconds = team_max(&c->team, team_now() - start);
  agree_on_info(c);
  return seconds;
}

static double trial(void* of, tile tile) {
  cholesky* const c = of;
  divide_into_tiles(c, tile.rows);
  const double seconds = factor_once(c);
  release_tiles(c);
  return seconds;
}

/* The powers of two up to a quarter of the matrix. The trials are made with at most MOST_TRIAL numbers in a row, beyond
 * which the best tile hardly changes. */
static int best_tile(cholesky* c) {
  tile candidates[16] = {{LEAST_TILE, LEAST_TILE}};
  int count = 1;
  for (int size = 2 * LEAST_TILE; size <= smaller(MOST_TILE, c->n / 4); size *= 2)
    candidates[count++] = (tile){size, size};
  const int n = c->n;
  const tiles search = {.what = c->program->name,
                        .size = n,
                        .threads = c->threads,
                        .candidates = candidates,
                        .count = count,
                        .trial = trial,
                        .of = c};
  c->n = smaller(n, MOST_TRIAL);
  const tile_choice best = tiles_best(&c->team, &search);
  c->n = n;
  split_reset(&c->split);
  return best.tile.rows;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double values[], int count) {
  qsort(values, (size_t)count, sizeof values[0], ascending);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Of all tiles; the same in all programs with the same --tile, because every tile gets the same steps in the same
 * order. */
static uint64_t checksum(const cholesky* c) {
  const int count = cholesky_triangle(c, 0);
  slab* const slabs = calloc((size_t)count, sizeof *slabs);
  team_agree(&c->team, slabs != NULL, TEAM_BAD_INPUT, "no memory for a list of tiles");
  for (int index = 0; index < count; index++) {
    int i, j;
    cholesky_at_index(c, 0, index, &i, &j);
    const size_t row = sizeof(double) * (size_t)cholesky_extent(c, i);
    slabs[index] = (slab){.from = 0,
                          .to = 1,
                          .last = cholesky_mine(c, i, j),
                          .rows = cholesky_extent(c, j),
                          .row_bytes = row,
                          .row_pitch = sizeof(double) * (size_t)cholesky_lead(c, i),
                          .data = cholesky_tile(c, i, j)};
  }
  const uint64_t sum = files_checksum(&c->team, slabs, count);
  free(slabs);
  return sum;
}

typedef struct figures {
  double seconds, best, gflops, logdet, residual;
  uint64_t checksum;
} figures;

static void print_text(const cholesky* c, const figures* g, const counter counters[]) {
  printf("%.4f s (best %.4f s), %.2f Gflop/s, log of the determinant %.10g\n", g->seconds, g->best, g->gflops,
         g->logdet);
  printf("time of the threads: ");
  split_print(&c->split, stdout);
  printf("\n");
  for (const counter* k = counters; k != NULL && k->name != NULL; k++)
    printf("  %-16s %12lld\n", k->name, (long long)k->value);
  if (c->verify)
    printf("%s: residual %.3g, limit %.0f\n", g->residual < residual_limit ? "verified" : "WRONG", g->residual,
           residual_limit);
}

static void print_json(const cholesky* c, const figures* g, const counter counters[]) {
  printf(
      "{\"program\": \"%s\", \"size\": %d, \"tile\": %d, \"steps\": %d, \"ranks\": %d, \"grid\": [%d, %d], "
      "\"threads\": %d, \"seconds\": %.9f, \"best\": %.9f, \"gflops\": %.6f, \"logdet\": %.12g, \"residual\": ",
      c->team.program, c->n, c->tile, c->steps, c->team.count, c->rows, c->columns, c->threads, g->seconds, g->best,
      g->gflops, g->logdet);
  if (c->verify) printf("%.6g", isfinite(g->residual) ? g->residual : 1e308);
  else printf("null");
  printf(", \"checksum\": \"%016llx\", \"split\": ", (unsigned long long)g->checksum);
  split_json(&c->split, stdout);
  printf(", \"counters\": {");
  for (const counter* k = counters; k != NULL && k->name != NULL; k++)
    printf("%s\"%s\": %lld", k == counters ? "" : ", ", k->name, (long long)k->value);
  printf("}}\n");
}

static void finish(cholesky* c, const counter counters[]) {
  figures g = {.logdet = matrix_logdet(c), .checksum = checksum(c)};
  double all = 0;
  for (int step = 0; step < c->steps; step++) all += c->seconds[step];
  split_finish(&c->split, &c->team, all);
  g.seconds = median(c->seconds, c->steps);
  g.best = c->seconds[0];
  g.gflops = g.seconds > 0 ? 1e-9 * c->run.work / g.seconds : 0;
  if (c->verify) g.residual = matrix_residual(c);
  if (c->team.rank == 0) (c->json ? print_json : print_text)(c, &g, counters);
  team_agree(&c->team, !c->verify || g.residual < residual_limit, TEAM_WRONG,
             "the answer is wrong: the residual is %.3g, limit %.0f", g.residual, residual_limit);
}

static void print_start(const cholesky* c) {
  const char *ranks = c->team.count == 1 ? "" : "s", *threads = c->threads == 1 ? "" : "s";
  printf("%s: %d x %d numbers in tiles of %d, %.1f MiB, %d rank%s x %d thread%s, %d time%s\n", c->team.program, c->n,
         c->n, c->tile, 4.0 * c->n * (c->n + (double)c->tile) / 1048576, c->team.count, ranks, c->threads, threads,
         c->steps, c->steps == 1 ? "" : "s");
  fflush(stdout);
}

int cholesky_run(cholesky* c, const counter counters[]) {
  int status = 0;
  const bool choose = c->tile == 0;
  if (choose && c->program->whole) c->tile = 256; /* for the check only */
  else if (choose) c->tile = best_tile(c);
  divide_into_tiles(c, c->tile);
  if (c->team.rank == 0 && !c->json) print_start(c);
  c->run.unit = "flop";
  c->run.work = (double)c->n * c->n * c->n / 3;
  run_start(&c->run, &c->team, 0, c->steps);
  for (int step = 1; step <= c->steps && status == 0; step++) {
    c->seconds[step - 1] = factor_once(c);
    if (run_step(&c->run, step, NULL, NULL, NULL)) status = run_end_stopped(&c->run, NULL);
  }
  if (status == 0) finish(c, counters);
  release_tiles(c);
  team_leave(&c->team);
  split_close(&c->split);
  free(c->seconds);
  return status;
}
