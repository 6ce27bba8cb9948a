/* Each program here counts what is wrong on each rank, and ends with verdict(), called by all ranks: rank 0 prints
 * OK, or the number of wrong values. */
#ifndef GOLDEN_CHECK_H
#define GOLDEN_CHECK_H

#include <sms.h>
#include <stdio.h>

static inline int verdict(long wrong) {
  wrong = (long)sms_reduce_int64(wrong, SMS_SUM);
  if (sms_rank == 0 && wrong != 0) printf("%ld wrong\n", wrong);
  if (sms_rank == 0 && wrong == 0) puts("OK");
  return wrong != 0;
}

#endif
