/* The graph of Cholesky's method, with numbers in place of tiles. */
#include <task.h>
#include "check.h"
#define N 9

#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[N][N];
static double serial[N][N];

static double root(double x) {
  double y = x;
  for (int i = 0; i < 60; i++) y = (y + x / y) / 2;
  return y;
}
static double first(int i, int j) { return i == j ? N + 1 : 1. / (1 + i + j); }

int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) {
#pragma hiroba task out(a[i][j])
      a[i][j] = first(i, j);
    }
  for (int k = 0; k < N; k++) {
#pragma hiroba task inout(a[k][k]) priority(3)
    a[k][k] = root(a[k][k]);
    for (int i = k + 1; i < N; i++) {
#pragma hiroba task in(a[k][k]) inout(a[i][k]) priority(2)
      a[i][k] /= a[k][k];
    }
    for (int i = k + 1; i < N; i++) {
      for (int j = k + 1; j < i; j++) {
#pragma hiroba task in(a[i][k], a[j][k]) inout(a[i][j]) label(gemm)
        a[i][j] -= a[i][k] * a[j][k];
      }
#pragma hiroba task in(a[i][k]) inout(a[i][i]) priority(1)
      a[i][i] -= a[i][k] * a[i][k];
    }
  }
#pragma hiroba taskwait
  long wrong = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) {
      double sum = first(i, j);
      for (int k = 0; k < j; k++) sum -= serial[i][k] * serial[j][k];
      serial[i][j] = i == j ? root(sum) : sum / serial[j][j];
      wrong += __builtin_fabs(a[i][j] - serial[i][j]) > 1e-12;
    }
  return verdict(wrong);
}
