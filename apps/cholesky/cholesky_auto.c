/* Cholesky with SMint's directives only: the loops of the sequential program over tiles, each iteration of which
 * becomes a task. Which one waits for which, and what moves between ranks, follows from the subscripts.
 *
 * The tiles are a shared array that is divided into rows x columns blocks, one for each rank, in which each rank has
 * its rows and columns of tiles: tile (i, j) is element (row[i], column[j]). */
#include <omp.h>
#include <smint.h>
#include <stdlib.h>
#include <string.h>
#include <task.h>

#include "../common/memory.h"
#include "../common/shared.h"
#include "turns.h"

static cholesky c;
static int *row, *column;

/* Where each of `tiles` is, if each of `ranks` has as many in sequence. Returns how many are in sequence. */
static int place(int tiles, int ranks, int** places) {
  const int each = (tiles - 1) / ranks + 1;
  *places = malloc((size_t)tiles * sizeof **places);
  team_agree(&c.run.team, *places != NULL, TEAM_BAD_INPUT, "no memory for a list of %d tiles", tiles);
  for (int i = 0; i < tiles; i++) (*places)[i] = turns_of(i, ranks) * each + i / ranks;
  return each;
}

static void open(cholesky* of) {
  const int tiles = of->tiles, rows = of->rows, columns = of->columns;
  const long numbers = (long)of->tile * of->tile;
  double mine = 0;
  for (int j = 0; j < tiles; j++)
    for (int i = j; i < tiles; i++) mine += cholesky_mine(of, i, j);
  memory_check(&of->run.team, mine * (double)numbers * sizeof(double), "the matrix");
  const int height = rows * place(tiles, rows, &row), width = columns * place(tiles, columns, &column);
#pragma SMint shared ::[height : rows][width : columns][numbers : ](0, NPROCS)
  double(*a)[width][numbers] = NULL;
  of->own = a;
  for (int j = 0; j < tiles; j++)
    for (int i = j; i < tiles; i++) {
      of->at[(size_t)i + (size_t)j * (size_t)tiles] = a[row[i]][column[j]];
      if (cholesky_mine(of, i, j)) memset(a[row[i]][column[j]], 0, sizeof a[0][0]);
    }
  shared_written();
}

static void close(cholesky* of) {
  sms_free(of->own);
  free(row);
  free(column);
}

static void potrf(double* tile, int k) {
  (void)tile;
  cholesky_potrf(&c, k);
}

static void trsm(double* tile, const double* diagonal, int i, int k) {
  (void)tile;
  cholesky_trsm(&c, i, k, diagonal);
}

static void update(double* tile, const double* left, const double* right, int i, int j, int k) {
  (void)tile;
  cholesky_update(&c, i, j, k, left, right);
}

static void factor(cholesky* of) {
  const int tiles = of->tiles, width = of->columns * ((tiles - 1) / of->columns + 1);
  const long numbers = (long)of->tile * of->tile;
  double(*a)[width][numbers] = of->own;
  for (int k = 0; k < tiles; k++) {
#pragma SMint parallel for tasks tile(1)
    for (int i = k; i <= k; i++) potrf(a[row[i]][column[i]], i);
#pragma SMint parallel for tasks tile(1)
    for (int i = k + 1; i < tiles; i++) trsm(a[row[i]][column[k]], a[row[k]][column[k]], i, k);
#pragma SMint parallel for tasks tile(1, 1)
    for (int j = k + 1; j < tiles; j++)
      for (int i = j; i < tiles; i++) update(a[row[i]][column[j]], a[row[i]][column[k]], a[row[j]][column[k]], i, j, k);
  }
}

int main(int argc, char** argv) {
  static const cholesky_program program = {.name = "cholesky_auto",
                                           .open = open,
                                           .close = close,
                                           .factor = factor,
                                           .thread = hiroba_task_thread,
                                           .rank = turns_rank};
  sms_startup(&argc, &argv);
  cholesky_begin(&c, &program, shared_team(), argc, argv);
  return cholesky_run(&c);
}
