/* Reductions and broadcasts, of all images or of some. */
#include <xmp.h>
#include "check.h"

#define HIGHEST MAX
#pragma xmp nodes p[*]
double co[3]:[*];

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), wrong = 0;
  int sum = me + 1, least = me, most = me, all = 7, any = 0, both = 1, v[2][3];
  float product = 2;
  long place[2] = {me, -me}, where = me + 100;
  double value[2] = {-me, me};
  for (int i = 0; i < 6; i++) v[i / 3][i % 3] = me + i;
  co[1] = me;
#pragma xmp reduction(+:sum, v)
  wrong += sum != n * (n + 1) / 2 || v[1][2] != n * (n - 1) / 2 + 5 * n;
#pragma XMP REDUCTION (HIGHEST : most, co) on p
#pragma xmp reduction(min:least)
#pragma xmp reduction(*:product)
  wrong += most != n - 1 || least != 0 || product != (float)(1 << n) || co[1] != n - 1;
  any = me == n - 1;
  all = me == 0 ? 6 : 7;
  both = me > 0;
#pragma xmp reduction(||:any)
#pragma xmp reduction(&:all)
#pragma xmp reduction(&&:both)
  wrong += any != 1 || all != 6 || both != 0;
#pragma xmp reduction(firstmax: value / place, where /)
  wrong += value[0] != 0 || value[1] != n - 1 || place[0] != 0 || place[1] != -(n - 1);
  sum = me;
#pragma xmp reduction(+:sum) on p[0]
  wrong += sum != me;
  if (me >= 0)
#pragma xmp reduction(+:sum)
  else wrong++;
  wrong += sum != n * (n - 1) / 2;

  int x = me, list[6], last = n - 1;
  for (int i = 0; i < 6; i++) list[i] = 10 * me + i;
#pragma xmp bcast(x)
  wrong += x != 0;
  x = me;
#pragma xmp bcast (x, list[1:2], list[5]) from p[last]
  wrong += x != last || list[1] != 10 * last + 1 || list[5] != 10 * last + 5 || list[0] != 10 * me;
  co[:] = me;
#pragma xmp bcast(co) from p(1) on p[0:n]
  wrong += co[2] != 0;
  return verdict(wrong);
}
