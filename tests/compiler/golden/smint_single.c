#include <smint.h>
#include "check.h"

#pragma SMint shared ::[](0, 1)
int times[2];

int main(void) {
#pragma SMint single
  times[0]++;
#pragma SMint single
  {
    times[1] += 2;
    if (sms_rank != 0) times[1] = -1;
  }
  return verdict((times[0] != 1) + (times[1] != 2));
}
