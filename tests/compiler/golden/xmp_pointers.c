/* Pointers: as bases of sections, to coarrays that are allocated later, and as parameters. */
#include <stdlib.h>
#include <xmp.h>
#include "check.h"

int a[10]:[*], grid[4][5]:[*];
double *y:[*], (*plane)[3]:[*];
static int* list:[2][*];

static int part(int w[restrict 10]:[*], int rows, int (*g)[5]:[*], int image) {
  int got[2];
  got[:] = g[rows][1:2]:[image];
  w[9]:[image] = 70 + rows;
  return w[3]:[image] + got[0] + got[1];
}

static double sum(const double* p, int n) {
  double all[4] = {0};
  all[0:n] = p[0:n] + p[0:n];
  return all[0] + all[1] + all[2] + all[3];
}

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0;
  int *p = malloc(8 * sizeof(int)), *q = p + 4;
  struct {
    int *inside, (*rows)[5];
  } s = {p, malloc(2 * sizeof(int[5]))};
  for (int i = 0; i < 10; i++) a[i] = 10 * me + i;
  for (int i = 0; i < 20; i++) grid[i / 5][i % 5] = 100 * me + i;
  xmp_sync_all(0);
  p[0:3] = a[2:3]:[next];
  q[0:4] = p[0:4:-1 + 2];
  wrong += p[0] != 10 * next + 2 || p[2] != 10 * next + 4 || q[1] != 10 * next + 3;
  s.inside[2:2] = a[0:2]:[next];
  (p + 1)[0:2] = a[5:2]:[next];
  *(&s.rows[1][4]) = 0;
  s.rows[0:2][1:2] = grid[2:2][3:2]:[next];
  wrong += p[2] != 10 * next + 6 || p[1] != 10 * next + 5 || p[3] != 10 * next + 1;
  wrong += s.rows[1][2] != 100 * next + 19 || s.rows[0][1] != 100 * next + 13;
  xmp_sync_all(0);
  a[0:4]:[next] = q[0:4];
  xmp_sync_all(0);
  int after = (me + n - 1) % n;
  wrong += a[1] != 10 * ((after + 1) % n) + 3;
  xmp_sync_all(0);

  y = xmp_malloc(xmp_desc_of(y), 6);
  plane = xmp_malloc(xmp_desc_of(plane), 2, 3);
  list = xmp_malloc(xmp_desc_of(list), 4);
  for (int i = 0; i < 6; i++) y[i] = plane[i / 3][i % 3] = me + i / 8.0;
  list[0] = me;
  xmp_sync_all(0);
  wrong += y[5]:[next] != next + 0.625 || plane[1][2]:[next] != next + 0.625 || list[0]:[next % 2][next / 2] != next;
  y[0:3]:[next] = plane[1][0:3]:[next];
  xmp_sync_all(0);
  wrong += y[0] != me + 0.375 || sum(y, 3) != 2 * (3 * me + 0.375 + 0.5 + 0.625);
  wrong += part(a, 2, grid, next) != a[3]:[next] + 2 * 100 * next + 11 + 12;
  xmp_sync_all(0);
  wrong += a[9] != 72;
  xmp_free(xmp_desc_of(list));
  xmp_free(xmp_desc_of(plane));
  xmp_free(xmp_desc_of(y));
  free(s.rows), free(p);
  return verdict(wrong);
}
