/* async(id): what goes on behind the directive, until wait_async. */
#include <xmp.h>
#include "check.h"

#define NUMBER 4
#pragma xmp nodes p[*]
int a[6]:[*], b[6];
double grid[3][4]:[*];

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0, id = 7;
  int sum = me + 1, most = me, v[2][3], x = me;
  long where = me;
  for (int i = 0; i < 6; i++) a[i] = 10 * me + i, b[i] = -i, v[i / 3][i % 3] = me + i;
#pragma xmp reduction(+:sum, v) async(1)
#pragma xmp reduction(MAX:most) on p async (id)
#pragma xmp reduction(lastmax: x / where /) ASYNC(id + 1)
#pragma xmp wait_async(1, id)
  wrong += sum != n * (n + 1) / 2 || v[1][2] != n * (n - 1) / 2 + 5 * n || most != n - 1;
#pragma xmp bcast(most, b[1:2]) from p[n - 1] async(NUMBER)
#pragma xmp gmove async(2)
  a[:] = a[::-1]:[next];
#pragma XMP WAIT_ASYNC (2) ON p
  wrong += a[5] != 10 * next;
  while (!xmp_test_async(NUMBER)) continue;
  wrong += most != n - 1 || b[2] != -2;
  xmp_sync_all(0);
#pragma xmp gmove in async(3)
  b[0:4] = a[1:4]:[next];
#pragma xmp gmove OUT async(3)
  grid[:][1]:[next] = me + 0.5;
  if (me >= 0)
#pragma xmp wait_async (3, id + 1)
  else wrong++;
  wrong += x != n - 1 || where != n - 1 || b[0] != 10 * ((next + 1) % n) + 4;
  xmp_sync_all(0);
  wrong += grid[2][1] != (me + n - 1) % n + 0.5 || grid[2][0] != 0;
#pragma xmp gmove async(3)
  grid[0:2] = 9;
#pragma xmp task on p[0]
  {
#pragma xmp reduction(+:sum) async(5)
#pragma xmp wait_async(5)
  }
#pragma xmp wait_async(3)
  wrong += grid[1][3] != 9 || sum != n * (n + 1) / 2;
  return verdict(wrong);
}
