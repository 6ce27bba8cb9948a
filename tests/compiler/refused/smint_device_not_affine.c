#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int place_of[10];
int main(void) {
#pragma SMint parallel for device(1)
#pragma acc parallel loop
  for (int i = 0; i < 10; i++) a[i][0] = b[place_of[i]][0];
  return 0;
}
// expected: 6:1: this loop cannot be computed on devices: b[place_of[i]][0]: a subscript is not affine
// remedy: use hiroba_device_preload, _launch and _overload (device.h), or take `device` away
