/* What is on another image as the bound of a parallel for: read once, by every rank. */
#include <smint.h>
#include <xmp.h>
#include "check.h"

#pragma SMint shared ::[NPROCS](0, NPROCS)
int v[100];
#pragma SMint shared ::[NPROCS][](0, NPROCS)
int w[100][20];
int limit:[*], lim[4]:[*], y[3]:[*];

static int part(int z[]:[*]) {
  int sum = 0;
#pragma SMint parallel for reduction(+:sum)
  for (int i = z[0]; i < z[1]:[0]; i++) sum += v[i];
  return sum;
}

int main(void) {
  int me = xmpc_this_image(), n = xmp_num_images(), sum = 0, times = 0, wrong = 0;
  limit = 50 + me, lim[0] = 0, lim[2] = 60 + me, lim[3] = 20 + me, y[0] = 1, y[1] = 70 + me;
  xmp_sync_all(0);
#pragma SMint parallel for
  for (int i = 0; i < limit:[0]; i++) v[i] = i;
#pragma SMint parallel for reduction(+:times)
  for (int i = lim[2]:[n - 1] - 9 - n; i <= 2 * lim[2]:[0] - 21; i++) v[i] = i, times++;
  wrong += times != 50;
#pragma SMint parallel for reduction(+:sum) collapse(2)
  for (int i = 0; lim[0] + 100 > i; i++)
    for (int j = 0; lim[3]:[0] > j; j++) w[i][j] = v[i], sum += j == 0;
  wrong += sum != 100;
#pragma SMint parallel for reduction(+:sum)
  for (int i = 0; limit:[0] > i; i++) sum += v[i] == w[i][19];
  wrong += sum != 150 || part(y) != 69 * 70 / 2;
  return verdict(wrong);
}
