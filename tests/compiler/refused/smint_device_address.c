#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
void put(double* row);
int main(void) {
#pragma SMint parallel for device(1)
#pragma acc parallel loop
  for (int i = 0; i < 10; i++) put(a[i]);
  return 0;
}
// expected: 6:1: this loop cannot be computed on devices: a[i]: fewer subscripts than dimensions
// remedy: use hiroba_device_preload, _launch and _overload (device.h), or take `device` away
