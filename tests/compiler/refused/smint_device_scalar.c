#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
#pragma SMint shared ::[](0, 1)
int n;
int main(void) {
#pragma SMint parallel for device(1)
#pragma acc parallel loop
  for (int i = 0; i < 10; i++) a[i][0] = n;
  return 0;
}
// expected: 7:1: this loop cannot be computed on devices: `n` is a shared variable, which is no array
// remedy: use hiroba_device_preload, _launch and _overload (device.h), or take `device` away
