#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../common/bits.h"
#include "../common/files.h"
#include "../common/memory.h"
#include "../common/options.h"
#include "cholesky.h"
#include "kernels.h"

enum { LEAST_TILE = 64, MOST_TILE = 1024, MOST_TRIAL = 8192 }; /* of --tile auto */

static const double residual_limit = 30; /* LAPACK's, for its own tests */

/* ---- options ----------------------------------------------------------------------------------------------------- */

static const option options[] = {
    {"--size", "N", "the matrix has N x N numbers (default 1024); a step is one factorisation (default 1)",
     OPTION_NUMBER, offsetof(cholesky, run) + offsetof(tiled, size)},
    {"--tile", "B or auto", "the tiles have B x B (default 256); auto: the best by trials", OPTION_TEXT,
     offsetof(cholesky, run) + offsetof(tiled, tile_text)},
    {"--indefinite", "K", "make the K-th number of the diagonal -1, to see how that ends", OPTION_NUMBER,
     offsetof(cholesky, indefinite)},
    TILED_OPTIONS(cholesky, run),
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static void print_help(const cholesky* c) {
  printf(
      "%s: the Cholesky factorisation A = L L^T of a dense matrix, tile by tile, in double precision\n\n"
      "A has the numbers of LAPACK's dlarnv, made symmetric, and N added on the diagonal. --verify compares A with\n"
      "L L^T: LAPACK's residual, in the 1-norm, must not be above %.0f.\n\n",
      c->run.team.program, residual_limit);
  options_print(options, OPTIONS);
  printf(
      "\nTry\n"
      "  cholesky_serial --size 2048 --tile 256 --verify\n"
      "  OMP_NUM_THREADS=2 cholesky_omp_tasks --size 4096 --tile auto --steps 5\n"
      "  mpirun -n 2 cholesky_mpi_tasks --size 4096 --tile 256 --verify\n");
}

/* The grid of ranks, as square as it can be. A column of it shares the panel of a step, so it has more rows. */
static void divide_ranks(cholesky* c) {
  c->columns = (int)sqrt(c->run.team.count);
  while (c->run.team.count % c->columns != 0) c->columns--;
  c->rows = c->run.team.count / c->columns;
}

static void divide_into_tiles(cholesky* c, int tile) {
  const team* team = &c->run.team;
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
  c->at = NULL;
}

void cholesky_begin(cholesky* c, const cholesky_program* program, team team, int argc, char** argv) {
  memset(c, 0, sizeof *c);
  c->program = program;
  c->run.team = team;
  c->run.team.program = program->name;
  c->run.threads = 1;
#ifdef _OPENMP
  c->run.threads = omp_get_max_threads();
#endif
  c->run.size = 1024;
  c->run.steps = 1;
  c->run.tile_text = "256";
  options_read(&c->run.team, options, OPTIONS, c, argc, argv);
  if (c->run.help) {
    if (team.rank == 0) print_help(c);
    team_leave(&team);
    exit(0);
  }
  c->n = c->run.size;
  team_agree(&c->run.team, c->indefinite <= c->n, TEAM_BAD_INPUT, "--indefinite %d: the diagonal has %d numbers",
             c->indefinite, c->n);
  tiles_option(&c->run.team, c->run.tile_text, 1); /* before memory is taken */
  if (c->run.json != NULL && strcmp(c->run.json, "-") != 0) files_check_writable(&c->run.team, "--json", c->run.json);
  divide_ranks(c);
  c->run.run.unit = "flop";
  c->run.run.work = (double)c->n * c->n * c->n / 3;
  kernels_threads(1);
}

void cholesky_private(cholesky* c) {
  const size_t n = (size_t)c->n, tile = (size_t)c->tile;
  const bool whole = c->program->whole;
  size_t numbers = 0;
  for (int j = 0; j < c->tiles; j++)
    for (int i = j; i < c->tiles; i++) numbers += cholesky_mine(c, i, j) ? cholesky_numbers(c, i, j) : 0;
  if (whole) numbers = n * n;
  memory_check(&c->run.team, sizeof(double) * (double)numbers, "the matrix");
  c->memory = memory_pages(numbers * sizeof(double));
  team_agree(&c->run.team, c->memory != NULL, TEAM_BAD_INPUT, "no memory for the matrix; use a smaller --size");
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
  return split_add(&c->run.split, c->program->thread != NULL ? c->program->thread() : 0, category, since);
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
  const int first = (int)-team_max(&c->run.team, -(double)(c->info > 0 ? c->info : INT_MAX));
  c->info = first < INT_MAX ? first : 0;
  if (c->info != 0) release_tiles(c);
  team_agree(&c->run.team, c->info == 0, TEAM_BAD_INPUT,
             "the matrix is not positive definite: its leading minor of order %d is not (LAPACK's info = %d)", c->info,
             c->info);
}

static void factor_once(cholesky* c) {
  fill(c);
  team_max(&c->run.team, 0);
  const double start = team_now();
  c->program->factor(c);
  const double seconds = team_max(&c->run.team, team_now() - start);
  agree_on_info(c);
  c->best = c->seconds > 0 ? fmin(c->best, seconds) : seconds;
  c->seconds += seconds;
}

static void run_steps(void* of, int from, int to) {
  for (int step = from; step < to; step++) factor_once(of);
}

/* The trials are made with at most MOST_TRIAL numbers in a row: beyond, the best tile hardly changes, and they take
 * minutes. */
static void try_steps(void* of, int from, int to) {
  cholesky* const c = of;
  c->n = smaller(c->run.size, MOST_TRIAL);
  divide_into_tiles(c, c->run.tile.rows);
  run_steps(c, from, to);
  release_tiles(c);
  c->n = c->run.size;
}

static void choose(cholesky* c) {
  tile candidates[16];
  int count = 0;
  for (int size = LEAST_TILE; count == 0 || size <= smaller(MOST_TILE, c->n / 4); size *= 2)
    candidates[count++] = (tile){size, size};
  const bool any = c->program->whole; /* then it is for the check only */
  tiled_choose(&c->run, c->program->name, 1, c->n, candidates, any ? 1 : count, try_steps, c);
  c->seconds = 0;
}

/* Of all numbers of the factor; the same in all programs with the same --tile, because every tile gets the same steps
 * in the same order. */
static uint64_t bits(const cholesky* c) {
  uint64_t sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
  for (int index = 0; index < cholesky_triangle(c, 0); index++) {
    int i, j;
    cholesky_at_index(c, 0, index, &i, &j);
    const double* const tile = cholesky_mine(c, i, j) ? cholesky_tile(c, i, j) : NULL;
    for (int y = 0; tile != NULL && y < cholesky_extent(c, j); y++)
      for (int x = i == j ? y : 0; x < cholesky_extent(c, i); x++) {
        const uint64_t row = (uint64_t)i * (uint64_t)c->tile + (uint64_t)x;
        const uint64_t column = (uint64_t)j * (uint64_t)c->tile + (uint64_t)y;
        sum += bits_of(row * (uint64_t)c->n + column, &tile[x + (ptrdiff_t)y * cholesky_lead(c, i)], sizeof *tile);
      }
  }
  return team_sum_bits(&c->run.team, sum);
}

int cholesky_run(cholesky* c) {
  static const char* const categories[] = {"potrf", "trsm", "syrk", "gemm", "comm", NULL};
  choose(c);
  divide_into_tiles(c, c->run.tile.rows);
  const bool done = tiled_run(&c->run, categories, run_steps, c);
  c->run.run.seconds = c->seconds; /* of the factorisations, without filling the matrix */
  if (done) split_finish(&c->run.split, &c->run.team, c->seconds);
  const tiled_figure more[] = {{"best_seconds", c->best}, {"logdet", done ? matrix_logdet(c) : 0}, {NULL, 0}};
  tiled_answer answer = {.limit = residual_limit, .name = "residual", .more = more};
  if (done) answer.bits = bits(c);
  if (done && c->run.verify) answer.error = matrix_residual(c);
  release_tiles(c);
  return done ? tiled_finish(&c->run, &answer) : tiled_stopped(&c->run);
}
