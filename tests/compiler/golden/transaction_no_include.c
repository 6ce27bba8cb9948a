#include <sms.h>

#include "check.h"

/* One statement below the directive, in loops and branches; the header comes by itself. */
int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  int64_t* n = sms_alloc(sizeof *n, 4, 0);
  for (int i = 0; i < 30; i++)
    if (i % 3 == 0)
#pragma hiroba atomic
      n[0]++;
    else
#pragma hiroba atomic
      n[1] += n[0] >= 0 ? 1 : 100;
  int i = 0;
#pragma hiroba atomic
  while (i < 5) n[2] += i++;
#pragma hiroba atomic
  switch (i) {
    case 5: n[3] += 3; break;
    default: n[3] = -1000;
  }
  sms_barrier();
  const int p = sms_nprocs;
  const int end = verdict((n[0] != 10 * p) + (n[1] != 20 * p) + (n[2] != 10 * p) + (n[3] != 3 * p) + (i != 5));
  sms_shutdown();
  return end;
}
