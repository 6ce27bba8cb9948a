/* on, priority, if, label; commutative and concurrent accesses; macros in directives. */
#include <task.h>
#include "check.h"
#define LAST (sms_nprocs - 1)
#define ALL a[0:4]

#pragma SMint shared ::[](0, 1)
int where[3], sum, a[4];

int main(void) {
  int wrong = 0, calls = 0, early = 0;
#pragma hiroba task out(where[0]) on(LAST) priority(2 + 1) label("at the end")
  where[0] = sms_rank;
#pragma hiroba task out(where[1])
  where[1] = sms_rank;
#pragma hiroba task out(ALL) if(sms_nprocs < 0)
  for (int i = 0; i < 4; i++) a[i] = i;
  wrong += a[3] != 3 || where[0] != LAST;
#pragma hiroba task if(wrong == 0 && calls > 0) shared(calls)
  calls++;
  early = calls;
  for (int i = 0; i < 5; i++) {
#pragma hiroba task commutative(sum) in(a[i % 4])
    sum += a[i % 4];
  }
  for (int i = 0; i < 3; i++) {
#pragma hiroba task concurrent(sum)
    __atomic_fetch_add(&sum, 100, __ATOMIC_RELAXED);
  }
#pragma hiroba taskwait
  return verdict(wrong + (sum != 306 || where[1] != 0 || early != 1));
}
