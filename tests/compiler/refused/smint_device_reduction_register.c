#include <smint.h>
#pragma SMint shared ::[NPROCS][](0, NPROCS)
double a[10][10], b[10][10];
int main(void) {
  register double sum = 0;
#pragma SMint parallel for device(1) reduction(+ : sum)
#pragma acc parallel loop
  for (int i = 0; i < 10; i++) sum += b[i][0];
  return sum > 0;
}
// expected: 6:1: a device cannot have `sum`, because it is a register variable, which has no address
// remedy: use hiroba_device_preload, _launch and _overload (device.h), or take `device` away
