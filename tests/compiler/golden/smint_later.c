#include <smint.h>
#include "check.h"

/* Barriers that wait for the next loop: rows far apart, a transposition, and swapped pointers in one time loop. */
enum { N = 600, M = 64, FAR = 170 };
#pragma SMint shared ::[NPROCS](0, NPROCS)
double a[N][M], b[N][M], c[M][N];

static double x[N][M], y[N][M], z[M][N]; /* the same, by each rank for itself */

int main(void) {
  double (*src)[M] = a, (*dst)[M] = b, (*from)[M] = x, (*to)[M] = y;
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) a[i][j] = i * M + j;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) x[i][j] = i * M + j;

  for (int t = 0; t < 12; t++) {
#pragma SMint parallel for
    for (int i = FAR; i < N - FAR; i++)
      for (int j = 1; j < M - 1; j++) dst[i][j] = (src[i - FAR][j] + src[i + FAR][j - 1] + src[i][j + 1]) / 3;
#pragma SMint parallel for
    for (int j = 0; j < M; j++)
      for (int i = 0; i < N; i++) c[j][i] = c[j][i] / 2 + dst[i][j];
    double (*old)[M] = src;
    src = dst;
    dst = old;
#pragma SMint parallel for
    for (int i = 1; i < N - 1; i++)
      for (int j = 0; j < M; j++) dst[i][j] += c[j][i] * 1e-3 + (src[i + 1][j] + src[i - 1][j]) * 1e-4;
  }

  for (int t = 0; t < 12; t++) {
    for (int i = FAR; i < N - FAR; i++)
      for (int j = 1; j < M - 1; j++) to[i][j] = (from[i - FAR][j] + from[i + FAR][j - 1] + from[i][j + 1]) / 3;
    for (int j = 0; j < M; j++)
      for (int i = 0; i < N; i++) z[j][i] = z[j][i] / 2 + to[i][j];
    double (*old)[M] = from;
    from = to;
    to = old;
    for (int i = 1; i < N - 1; i++)
      for (int j = 0; j < M; j++) to[i][j] += z[j][i] * 1e-3 + (from[i + 1][j] + from[i - 1][j]) * 1e-4;
  }

  int wrong = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) wrong += a[i][j] != x[i][j] || b[i][j] != y[i][j] || c[j][i] != z[j][i];
  return verdict(wrong);
}
