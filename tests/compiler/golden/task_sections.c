/* Sections in up to four dimensions, of arrays, pointers, parameters, structs and scalars; each is written by one task
 * and read by another. */
#include <stdlib.h>
#include <task.h>
#include "check.h"

#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[8][6];
#pragma SMint shared ::[NPROCS][][][](0, NPROCS)
int deep[4][3][4][5];
#pragma SMint shared ::[](0, 1)
int scalar;
struct pair {
  int x, y[4];
};
#pragma SMint shared ::[NPROCS](0, NPROCS)
struct pair pairs[4];

static long by_parameter(int n, int m, double v[n][m], double* row) {
  long wrong = 0;
#pragma hiroba task out(v[1:2][0:m], row[0:m])
  for (int j = 0; j < m; j++) v[1][j] = v[2][j] = row[j] = j;
#pragma hiroba task in(v[1:2][:], row[0:m]) inout(wrong)
  for (int j = 0; j < m; j++) wrong += v[1][j] != j || v[2][j] != j || row[j] != j;
#pragma hiroba taskwait
  return wrong;
}

int main(void) {
  int n = 8, wrong = 0;
  struct pair here = {0, {0}};
#pragma hiroba task out(a[0:4][1:3], scalar, here.y[1:2])
  {
    for (int i = 0; i < 4; i++)
      for (int j = 1; j < 4; j++) a[i][j] = i + j;
    scalar = 7;
    here.y[1] = here.y[2] = 5;
  }
#pragma hiroba task in(a[0:4][1:3], scalar) out(a[n - 1])
  for (int j = 0; j < 6; j++) a[n - 1][j] = scalar + a[3][j % 3 + 1];
#pragma hiroba task out(deep[0:2][0:2][1:2][0:3])
  for (int i = 0; i < 16; i++) deep[i / 8][i / 4 % 2][1 + i / 2 % 2][2 - i % 2] = i;
#pragma hiroba task in(deep[0:2][0:2][1:2][0:3]) out(pairs[3], pairs[1].y[0:4:2])
  {
    pairs[3].x = deep[1][1][2][1];
    pairs[1].y[0] = deep[0][1][1][2];
    pairs[1].y[2] = deep[1][0][1][2];
  }
#pragma hiroba task in(a[0:4:2][2]) out(a[6][5:1])
  a[6][5] = a[0][2] + a[2][2];
#pragma hiroba taskwait
  for (int j = 0; j < 6; j++) wrong += a[7][j] != 7 + 3 + j % 3 + 1;
  wrong += pairs[3].x != 15 || pairs[1].y[0] != 4 || pairs[1].y[2] != 8 || a[6][5] != 6;
  wrong += scalar != 7 || (sms_nprocs == 1 && here.y[2] != 5);
  double *v = malloc(3 * 6 * sizeof *v), row[6];
  long inside = by_parameter(3, 6, (double (*)[6])v, row);
  free(v);
  return verdict(wrong + inside);
}
