/* Element types: complex numbers, enumerations, typedefs, all sizes of integer; operands that are not evaluated. */
#include <assert.h>
#include <complex.h>
#include <xmp.h>
#include "check.h"

#define SWAP(x, y)      \
  do {                  \
    __typeof__(x) t = x; \
    x = y;              \
    y = t;              \
  } while (0)
double _Complex z[4]:[*];
double complex w:[*];
typedef float complex small_complex;
small_complex small[3]:[*];
enum color { RED, GREEN } paint:[*];
size_t big:[*];
unsigned long long int huge:[*];
short int narrow:[*];
int a[8]:[*];

static void in_a_block(int next) {
  extern int a[8]:[*];
  a[1]:[next] = a[2]:[next] + 1;
}

int main(void) {
  int n = xmp_num_images(), me = xmpc_this_image(), next = (me + 1) % n, wrong = 0;
  static double complex own[2]:[*] = {1, 2 * I};
  for (int i = 0; i < 8; i++) a[i] = i;
  z[:] = 1 + 2 * I, w = 3 * I, small[:] = 1, paint = RED, big = 1, huge = 2, narrow = 3;
  xmp_sync_all(0);
  z[1]:[next] += 2;
  w:[next] *= 2.0;
  small[0:2]:[next] *= 2 * I;
  paint:[next] = GREEN;
  xmp_sync_memory(0);
  paint:[next] |= 2;
  big:[next] <<= 3;
  huge:[next] -= 1;
  narrow:[next] += 1.5;
  xmp_sync_all(0);
  wrong += z[1] != 3 + 2 * I || z[2] != 1 + 2 * I || w != 6 * I || small[1] != 2 * I || small[2] != 1;
  wrong += paint != 3 || big != 8 || huge != 1 || narrow != 4 || cimag(own[1]:[next]) != 2;
  assert(a[1]:[next] == 1);
  SWAP(a[3]:[next], a[4]:[next]);
  xmp_sync_all(0);
  wrong += a[3] != 4 || a[4] != 3 || sizeof(a[0]:[next]) != sizeof(int) || sizeof(w:[next]) != sizeof w;
  in_a_block(next);
  xmp_sync_all(0);
  wrong += a[1] != 3;
  return verdict(wrong);
}
