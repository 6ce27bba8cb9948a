/* What it costs that data lies on the wrong node, and what is left of that when homes move. One line of JSON, by rank
 * 0.
 *
 * bench_homes steps PLACE POLICY ROWS   seconds a step of a stencil on two grids of ROWS x 4096 doubles, ten steps
 * after the beginning. PLACE: where a rank's rows are at home: well (on it), one (all rows on rank 0), other (on the
 * next rank). POLICY: fixed, first, migrating, redistributed (before the first step)
 *
 * bench_homes move MIB   seconds to distribute an array anew of which half goes from rank 0 to rank 1; and to preload
 * that half instead, into a cache that has no memory for it yet either
 *
 * The grid is compared with one that rank 0 computes alone; the bytes that move are compared, too. */
#include <sms.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../apps/common/clock.h"

enum { COLUMNS = 4096, BEFORE = 10, MEASURED = 20, ROUNDS = 5 };

static void check(int ok, const char* what) {
  if (!ok) sms_abort(1, what);
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double start_value(long row, long column) { return (double)((row * 31 + column * 17) % 101); }

/* Rows [begin, end) of the next grid; those at the edges of the grid stay. */
static void relax(const double* now_, double* next, long rows, long begin, long end) {
  for (long r = begin; r < end; ++r) {
    const double *row = now_ + r * COLUMNS, *above = row - COLUMNS, *below = row + COLUMNS;
    double* const out = next + r * COLUMNS;
    if (r == 0 || r == rows - 1) {
      memcpy(out, row, COLUMNS * sizeof *out);
      continue;
    }
    out[0] = row[0], out[COLUMNS - 1] = row[COLUMNS - 1];
    for (long c = 1; c < COLUMNS - 1; ++c) out[c] = 0.25 * (row[c - 1] + row[c + 1] + above[c] + below[c]);
  }
}

static void check_grid(const double* grid, long rows, int steps) {
  const size_t bytes = (size_t)rows * COLUMNS * sizeof(double);
  double *a = malloc(bytes), *b = malloc(bytes);
  check(a != NULL && b != NULL, "no memory");
  for (long r = 0; r < rows; ++r)
    for (long c = 0; c < COLUMNS; ++c) a[r * COLUMNS + c] = start_value(r, c);
  for (int s = 0; s < steps; ++s) {
    relax(a, b, rows, 0, rows);
    double* const other = a;
    a = b, b = other;
  }
  check(memcmp(a, grid, bytes) == 0, "the grid is wrong");
  free(a), free(b);
}

static void steps(const char* place, const char* policy, long rows) {
  const int dim[] = {(int)rows, COLUMNS, -1}, div[] = {sms_nprocs, 1, -1}, whole[] = {1, 1, -1};
  const int on_one = strcmp(place, "one") == 0;
  const int part = strcmp(place, "other") == 0 ? (sms_rank + 1) % sms_nprocs : sms_rank;
  double* grid[2];
  for (int i = 0; i < 2; ++i) {
    grid[i] =
        on_one ? sms_mapalloc(dim, whole, sizeof(double), 0, 1) : sms_mapalloc(dim, div, sizeof(double), 0, sms_nprocs);
    if (strcmp(policy, "first") == 0) sms_set_homes(grid[i], SMS_HOMES_FIRST_TOUCH);
    if (strcmp(policy, "migrating") == 0) sms_set_homes(grid[i], SMS_HOMES_MIGRATING);
  }
  const long per_rank = (rows + sms_nprocs - 1) / sms_nprocs;
  const long begin = part * per_rank, end = begin + per_rank < rows ? begin + per_rank : rows;
  for (long r = begin; r < end; ++r)
    for (long c = 0; c < COLUMNS; ++c) grid[0][r * COLUMNS + c] = start_value(r, c);
  sms_barrier();
  for (int i = 0; i < 2 && strcmp(policy, "redistributed") == 0; ++i) sms_redistribute(grid[i], div);
  double times[MEASURED], first_steps = now();
  for (int s = 0; s < BEFORE + MEASURED; ++s) {
    if (s == BEFORE) first_steps = now() - first_steps;
    const double start = now();
    relax(grid[s % 2], grid[(s + 1) % 2], rows, begin, end);
    sms_barrier();
    if (s >= BEFORE) times[s - BEFORE] = now() - start;
  }
  qsort(times, MEASURED, sizeof *times, compare);
  const double step = sms_reduce_double(times[MEASURED / 2], SMS_MAX);
  if (sms_rank == 0) {
    check_grid(grid[(BEFORE + MEASURED) % 2], rows, BEFORE + MEASURED);
    printf("{\"seconds\": %.9f, \"first_steps\": %.6f}\n", step, first_steps);
  }
  sms_barrier();
}

static double median(double* times) {
  qsort(times, ROUNDS, sizeof *times, compare);
  return times[ROUNDS / 2];
}

/* Rank 1 fetches it. */
static double preload(const double* array, const sms_range* part) {
  sms_sync_drop();
  const double start = now();
  if (sms_rank == 1) sms_preload(array, part);
  return sms_reduce_double(now() - start, SMS_MAX);
}

static void move(long mib) {
  const int n = (int)(mib << 17);
  const int halves[] = {2, -1}, whole[] = {1, -1};
  double* const array = sms_alloc(sizeof(double), (size_t)n, 0);
  for (int i = sms_rank == 0 ? 0 : n; i < n; ++i) array[i] = i;
  sms_barrier();
  const sms_range half = {n / 2, n / 2, 1};
  double moves[ROUNDS], preloads[ROUNDS];
  for (int round = 0; round < ROUNDS; ++round) {
    preloads[round] = preload(array, &half); /* what moves leaves the cache, so it is not there from the last round */
    sms_sync_drop();
    const double start = now();
    sms_redistribute(array, halves);
    moves[round] = sms_reduce_double(now() - start, SMS_MAX);
    check(sms_home(array + n / 2) == 1, "the half has not moved");
    for (int i = sms_rank; i < n; i += 511) check(array[i] == i, "a moved byte is wrong");
    sms_redistribute(array, whole);
    for (int i = sms_rank; i < n; i += 509) check(array[i] == i, "a byte that moved back is wrong");
  }
  const double seconds = median(moves), to_preload = median(preloads);
  if (sms_rank == 0) printf("{\"seconds\": %.6f, \"preload\": %.6f}\n", seconds, to_preload);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  if (argc == 5 && strcmp(argv[1], "steps") == 0) steps(argv[2], argv[3], strtol(argv[4], NULL, 10));
  else if (argc == 3 && strcmp(argv[1], "move") == 0) move(strtol(argv[2], NULL, 10));
  else sms_abort(2, "usage: bench_homes steps PLACE POLICY ROWS | move MIB");
  return sms_shutdown();
}
