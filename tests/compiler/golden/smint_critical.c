#include <smint.h>
#include "check.h"

#pragma SMint shared ::[](0, 1)
int counter;
#pragma SMint shared ::[](0, 1)
long other;

int main(void) {
  for (int i = 0; i < 20; i++) {
#pragma SMint critical
    counter++;
#pragma SMint critical (second)
    {
      other += 2;
      if (other < 0) other = 0;
    }
  }
#pragma SMint barrier
  return verdict((counter != 20 * sms_nprocs) + (other != 40L * sms_nprocs));
}
