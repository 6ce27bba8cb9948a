/* Expressions over sections: operators, functions, conditions, conversions, and sections of other images. */
#include <math.h>
#include <xmp.h>
#include "check.h"

double d[6]:[*];
int a[6]:[*], m[3][4]:[*];
static int calls;

static double half(double x) { return x / 2; }
static int once(void) { return ++calls; }
static int weighted(int x, const int* table) { return x * table[1]; }

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0;
  int x[6] = {1, 2, 3, 4, 5, 6}, y[6], table[2] = {0, 3}, order[6] = {5, 4, 3, 2, 1, 0}, k[3][4];
  for (int i = 0; i < 6; i++) a[i] = i + 10 * me, d[i] = i * i;
  for (int i = 0; i < 12; i++) m[i / 4][i % 4] = k[i / 4][i % 4] = i;
  xmp_sync_all(0);
  y[:] = a[:]:[next] * 2 + x[:];
  wrong += y[5] != 2 * (5 + 10 * next) + 6;
  y[:] = fabs(-d[:]:[next]) + half(x[:]) + once();
  wrong += y[4] != 19 || calls != 1; /* 16 + 2.5 + 1 */
  y[:] = x[:] > 3 ? -x[:] : 10 * x[:];
  wrong += y[0] != 10 || y[3] != -4;
  y[:] = weighted(x[:], table) - (int)half(7) + a[1]:[next];
  wrong += y[5] != 18 - 3 + 1 + 10 * next;
  y[0:3] = x[0:3] % 2 == 0 && a[0:3]:[me] >= 0;
  wrong += y[0] != 0 || y[1] != 1;
  y[:] = x[order[:]];
  wrong += y[0] != 6 || y[5] != 1;
  x[:] = x[1] * x[:]; /* x[1] is read once */
  wrong += x[1] != 4 || x[5] != 12;
  xmp_sync_all(0);
  d[:] = a[:]; /* converted */
  wrong += d[5] != 5 + 10 * me;
  xmp_sync_all(0);
  d[0:6]:[next] = a[0:6] + 0.5;
  a[0:3]:[next] = d[0:3] * 0 + 1.75;
  xmp_sync_all(0);
  int before = (me + n - 1) % n;
  wrong += d[5] != 5.5 + 10 * before || a[1] != 1 || a[5] != 5 + 10 * me;
  xmp_sync_all(0);
  a[3:3]:[next] *= d[3:3] * 0 + 0.5; /* computed in double */
  m[0:2][:]:[next] = k[1:2][:] - m[0:2][:]:[next] + 1;
  xmp_sync_all(0);
  wrong += a[5] != (int)((5 + 10 * me) * 0.5) || m[0][0] != 5 || m[1][3] != 5 || m[2][3] != 11;
  return verdict(wrong);
}
