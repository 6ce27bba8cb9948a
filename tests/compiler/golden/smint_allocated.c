/* Arrays that malloc gave in the serial program, which still runs: the map says how large they are. */
#include <smint.h>
#include <stdlib.h>
#include "check.h"

int main(int argc, char** argv) {
  int n = 40 * argc, wrong = 0;
#pragma SMint shared ::[n:NPROCS](0, NPROCS)
  double* line = (double*)malloc(n * sizeof *line);
#pragma SMint shared ::[n:NPROCS][n:](0, NPROCS)
  double(*square)[n] = calloc(n, n * sizeof(double));
#pragma SMint shared ::[n * n:NPROCS](0, NPROCS)
  double* flat = NULL;
#pragma SMint parallel for
  for (int i = 0; i < n; i++) line[i] = i;
#pragma SMint parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      square[i][j] = line[i] + line[n - 1 - j];
      flat[i * n + j] = -line[j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) wrong += (square[i][j] != i + n - 1 - j) + (flat[i * n + j] != -j);
  double* own = malloc(8);
  wrong += own == NULL || argv == NULL;
  free(own);
  free(line);
  free(square);
  free(flat);
  return verdict(wrong);
}
