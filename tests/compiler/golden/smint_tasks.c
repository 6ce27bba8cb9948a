/* Loops whose tiles are tasks: ragged tiles, a stencil in a time loop with swapped pointers, then a triangle. */
#include <smint.h>
#include "check.h"

enum { N = 50 };
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[N][N], b[N][N], c[N][N];

int main(void) {
  double(*from)[N] = a, (*to)[N] = b;
  int i, j;
#pragma SMint parallel for tasks tile(16, 7)
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++) a[i][j] = b[i][j] = i * N + j, c[i][j] = 0;
  for (int t = 0; t < 4; t++) {
#pragma SMint parallel for tasks tile(16, 16)
    for (i = 1; i < N - 1; i++)
      for (j = 1; j < N - 1; j++) to[i][j] = (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]) / 4;
    double(*swap)[N] = from;
    from = to, to = swap;
  }
#pragma SMint parallel for tasks tile(8, 8)
  for (i = 0; i < N; i++)
    for (j = N - 1; j >= i; j--)
      for (int k = i; k <= j; k += 3) c[i][j] += a[i][k];
  int wrong = 0;
#pragma SMint parallel for reduction(+ : wrong)
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++) {
      double sum = 0;
      for (int k = i; k <= j; k += 3) sum += i * N + k;
      wrong += from[i][j] != i * N + j;
      wrong += c[i][j] != sum;
    }
  return verdict(wrong);
}
