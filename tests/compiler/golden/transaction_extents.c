#include <sms.h>

#include "check.h"

/* Arrays whose extents are known at run time, in the function, in the block, and in functions. */
static int64_t fill(int n, int m, int64_t at[n][m], const int64_t* add) {
  int64_t kept[m], sum = 0;
  for (int j = 0; j < m; j++) kept[j] = add[j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) sum += at[i][j] += kept[j];
  return sum;
}

static int64_t work(void* shared, int n, int m) {
  int64_t(*at)[m] = shared, add[m], last = 0;
  for (int j = 0; j < m; j++) add[j] = j;
#pragma hiroba atomic
  {
    int64_t twice[m][2];
    for (int j = 0; j < m; j++) twice[j][0] = add[j], twice[j][1] = sizeof add / sizeof add[0];
    for (int j = 0; j < m; j++) add[0] += twice[j][0] + twice[j][1];
    last = fill(n, m, at, add);
    at[n - 1][m - 1] -= 1;
  }
  return add[0] == 22 && last > 0;
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  int64_t *shared = sms_alloc(sizeof *shared, 12, 0), right = 0;
  for (int i = 0; i < 10; i++) right += work(shared, 3, 4);
  sms_barrier();
  const int64_t p = 10 * sms_nprocs;
  const int end = verdict((right != 10) + (shared[0] != 22 * p) + (shared[7] != 3 * p) + (shared[11] != 2 * p));
  sms_shutdown();
  return end;
}
