/* Array assignments on this image: any number in a block, with steps, whatever overlaps. */
#include <xmp.h>
#include "check.h"

int c[8], b[8]:[*];

static int block(int k) {
  int b[8], t[3][4];
  double d[8];
  b[:] = 7;
  k += b[3];
  b[0:4] = c[0:4] + c[4:4] * 2;
  if (k > 0) b[7:4:-2] = c[0:4];
  else b[:] = 0;
  k += b[7] + b[5];
  for (int i = 0; i < 3; t[i][:] = i, i++) k++;
  t[1:2][1:2] = t[0:2][0:2];
  t[:][3] += 10;
  d[:] = b[:] / 2.0;
  d[0:8:1] *= 2;
  return b[0] + b[1] + 100 * b[7] + 1000 * b[1] + (int)d[7] + t[1][1] + t[2][2] + t[2][3] + k;
}

int main(void) {
  int wrong = 0;
  for (int i = 0; i < 8; i++) c[i] = b[i] = i;
  /* b = {8, 3, 14, 2, 7, 1, 7, 0} */
  wrong += block(0) != 8 + 3 + 0 + 3000 + 0 + 0 + 1 + 12 + (7 + 0 + 1 + 3);
  c[1:7] = c[0:7]; /* as if all were read first */
  wrong += c[1] != 0 || c[7] != 6 || c[2] != 1;
  c[0:7] = c[1:7];
  wrong += c[0] != 0 || c[6] != 6;
  c[:] = c[::-1];
  wrong += c[0] != 6 || c[1] != 6 || c[7] != 0;
  c[0:4] += c[2];
  wrong += c[0] != 11 || c[2] != 10 || c[3] != 9;
  b[2:3] = b[4:3];
  wrong += b[2] != 4 || b[4] != 6 || b[5] != 5;
  int n = 3, base = 2, m[2][3][4];
  m[:][:][:] = 1;
  m[1][0:n][base:] = 5, m[0][:][:] = m[1][:][:];
  wrong += m[0][2][3] != 5 || m[0][2][1] != 1;
  b[0:0] = 99; /* nothing */
  wrong += b[0] != 0;
  return verdict(wrong);
}
