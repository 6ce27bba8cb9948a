/* Loops of many kinds on devices: up and down, with steps, over columns, on private arrays and pointers, with variables
 * of the function, on one array that overlaps itself, with a condition. */
#include <smint.h>
#include <stdlib.h>

#include "../golden/check.h"

enum { N = 61, M = 23 };
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[N][M], b[N][M];
#pragma SMint shared ::[NPROCS](0, NPROCS)
int v[2 * N], w[2 * N];
static double scale_of[M];

static int check_rows(void) {
  int i, j, wrong = 0, few = M - 2;
  double factors[N], sum;
  double* const column = malloc(M * sizeof *column);
  for (j = 0; j < M; j++) scale_of[j] = j, column[j] = 2 * j;
  for (i = 0; i < N; i++) factors[i] = i;
#pragma SMint parallel for device(COUNT)
#pragma DIRECTIVE private(j, sum)
  for (i = N - 1; i >= 0; i--) {
    sum = 0;
    for (j = 0; j < few; j++) sum += scale_of[j] * column[j];
    for (j = 0; j < M; j++) a[i][j] = factors[i] * sum + j;
  }
  double sum_of_all = 0;
  for (j = 0; j < few; j++) sum_of_all += (double)j * 2 * j;
  for (i = 0; i < N; i++)
    for (j = 0; j < M; j++) wrong += a[i][j] != i * sum_of_all + j;
  free(column);
  return wrong;
}

static int check_columns(void) {
  int wrong = 0;
#pragma SMint parallel for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) b[i][j] = i * 100 + j;
#pragma SMint parallel for device(COUNT)
#pragma DIRECTIVE
  for (int j = 1; j < M; j += 3)
    for (int i = 2; i < N; i++) b[i][j] += a[i][j - 1];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      const double before = i * 100 + j;
      wrong += b[i][j] != (i >= 2 && j % 3 == 1 ? before + a[i][j - 1] : before);
    }
  return wrong;
}

static int check_pairs(int shift) {
  int wrong = 0;
#pragma SMint parallel for
  for (int i = 0; i < 2 * N; i++) v[i] = i, w[i] = -1;
#pragma SMint parallel for device(COUNT)
#pragma DIRECTIVE
  for (int i = 0; i < N; i++) {
    const int n = 2 * i;
    w[n] = v[n + 1];
    if (v[n] % 3 == 0) w[n + 1] = v[n] + shift;
  }
  for (int i = 0; i < N; i++) {
    wrong += w[2 * i] != 2 * i + 1;
    wrong += w[2 * i + 1] != (2 * i % 3 == 0 ? 2 * i + shift : -1);
  }
  return wrong;
}

static int check_linear(int rows, int columns, double* restrict matrix) {
  int wrong = 0;
  for (int t = 0; t < 3; t++) {
#pragma SMint parallel for device(COUNT)
#pragma DIRECTIVE
    for (int i = 1; i < rows; i++)
      for (int j = 1; j < columns - 1; j++) matrix[i * columns + j] = matrix[i * columns + j] * 2 + t;
  }
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) wrong += matrix[i * columns + j] != (i > 0 && j > 0 && j < columns - 1 ? 12 : 1);
  return wrong;
}

static int check_all_devices(void) {
  int wrong = 0;
#pragma SMint parallel for device nowait affinity(a[i][0])
#pragma DIRECTIVE
  for (int i = 0; i < N; i++) a[i][0] = 5;
#pragma SMint parallel for device(COUNT)
#pragma DIRECTIVE
  for (int i = 0; i < 2; i++) v[i] = i + 7;
#pragma SMint parallel for device(COUNT)
#pragma DIRECTIVE
  for (int i = 5; i < 5; i++) v[i] = 0;
  for (int i = 0; i < N; i++) wrong += a[i][0] != 5;
  return wrong + (v[0] != 7) + (v[1] != 8) + (v[5] != 5);
}

int main(void) {
  int wrong = check_rows();
  wrong += check_columns();
  wrong += check_pairs(9);
  const int dim[] = {N * M, -1}, div[] = {NPROCS, -1};
  double* const matrix = sms_mapalloc((int*)dim, (int*)div, sizeof(double), 0, NPROCS);
#pragma SMint parallel for
  for (int i = 0; i < N * M; i++) matrix[i] = 1;
  wrong += check_linear(N, M, matrix);
  wrong += check_all_devices();
  return verdict(wrong);
}
