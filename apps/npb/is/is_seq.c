/* Integer Sort in one process. */
#include <string.h>

#include "is.h"

static const int* exchange(is_job* job, int* totals, int* bounds) {
  memcpy(totals, job->sizes, IS_SIZES * sizeof *totals);
  is_bounds(job, totals, bounds);
  is_sort(job, bounds, NULL);
  return job->sorted;
}

int main(int argc, char** argv) {
  npb n;
  int sizes[IS_SIZES];
  npb_begin(&n, "IS", "is_seq", (npb_team){.count = 1}, false, argc, argv);
  is_job job = is_begin(&n, sizes, exchange);
  return is_run(&job, &n);
}
