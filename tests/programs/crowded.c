// Sums of one number over all ranks, again and again: ranks wait for each other all the time. crowded.py runs it beside
// processes that compute.
#include <hiroba/collective.h>
#include <sms.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const int times = atoi(argv[1]);
  for (int i = 0; i < times; ++i) {
    const double mine = i + sms_rank;
    double sum = 0;
    hiroba_allreduce(&mine, &sum, 1, HIROBA_DOUBLE, HIROBA_SUM, HIROBA_ALL);
    const double expected = (double)sms_nprocs * i + 0.5 * sms_nprocs * (sms_nprocs - 1);
    if (sum == expected) continue;
    fprintf(stderr, "rank %d: sum %d is %g, not %g\n", sms_rank, i, sum, expected);
    return 1;
  }
  sms_shutdown();
  return 0;
}
