#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sms.h>

#include "check.h"

/* Macros of the system and of the program, constants, and functions of numbers. */
#define MOST(a, b) ((a) > (b) ? (a) : (b))
#define ADD(where, what)           \
  do {                             \
    __typeof__(where) old = where; \
    where = old + (what);          \
  } while (0)
enum { SIZE = 4 };
static const int weights[SIZE] = {1, 2, 3, 4};

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  double* sum = sms_alloc(sizeof *sum, SIZE, 0);
  bool ended = false;
  for (int i = 0; i < 40; i++) {
#pragma hiroba atomic
    {
      assert(sum != NULL && sum[0] >= 0);
      ADD(sum[i % SIZE], weights[i % SIZE]);
      sum[0] = MOST(sum[0], fabs(sum[1]) - 100 * SIZE * 10);
      if (!ended && abs(i - 39) == 0) ended = true;
    }
  }
  sms_barrier();
  double all = 0;
  for (int i = 0; i < SIZE; i++) all += sum[i];
  const int end = verdict((all != 100.0 * sms_nprocs) + !ended);
  sms_shutdown();
  return end;
}
