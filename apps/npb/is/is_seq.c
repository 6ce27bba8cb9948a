/* Integer Sort in one process. */
#include <string.h>

#include "is.h"

static void exchange(const is_job* job, int* totals, int* bounds, is_piece* pieces) {
  memcpy(totals, job->sizes, IS_SIZES * sizeof *totals);
  is_bounds(job, totals, bounds);
  pieces[0] = (is_piece){job->sorted, job->count};
}

int main(int argc, char** argv) {
  npb n;
  int sizes[IS_SIZES];
  npb_begin(&n, "IS", "is_seq", (npb_team){.count = 1}, false, argc, argv);
  is_job job = is_begin(&n, sizes, exchange);
  return is_run(&job, &n);
}
