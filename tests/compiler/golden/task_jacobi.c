/* A tiled Jacobi: each tile of a step needs those beside it of the step before. */
#include <task.h>
#include "check.h"
#define N 24
#define TILE 5
#define STEPS 6

#pragma SMint shared ::[NPROCS][](0, NPROCS)
double u[N][N], v[N][N];
static double serial[2][N][N];

static int least(int a, int b) { return a < b ? a : b; }

int main(void) {
  double (*from)[N] = u, (*to)[N] = v;
  for (int i = 0; i < N * N; i++) serial[0][i / N][i % N] = serial[1][i / N][i % N] = i % 7;
#pragma hiroba task out(u, v)
  for (int i = 0; i < N * N; i++) u[i / N][i % N] = v[i / N][i % N] = i % 7;
  for (int step = 0; step < STEPS; step++) {
    for (int i = 1; i < N - 1; i += TILE)
      for (int j = 1; j < N - 1; j += TILE) {
        const int h = least(TILE, N - 1 - i), w = least(TILE, N - 1 - j);
#pragma hiroba task in(from[i - 1][j:w], from[i + h][j:w], from[i:h][j - 1:w + 2]) out(to[i:h][j:w]) label("sweep")
        {
          for (int k = i; k < i + h; k++)
            for (int l = j; l < j + w; l++)
              to[k][l] = (from[k - 1][l] + from[k + 1][l] + from[k][l - 1] + from[k][l + 1]) / 4;
        }
      }
    double(*swap)[N] = from;
    from = to;
    to = swap;
  }
#pragma hiroba taskwait
  for (int step = 0; step < STEPS; step++) {
    double(*a)[N] = serial[step % 2], (*b)[N] = serial[1 - step % 2];
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) b[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) / 4;
  }
  long wrong = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) wrong += from[i][j] != serial[STEPS % 2][i][j];
  return verdict(wrong);
}
