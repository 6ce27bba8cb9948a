/* Embarrassingly Parallel in one process. */
#include "ep.h"

int main(int argc, char** argv) {
  npb n;
  double x = 0, y = 0, counts[EP_RINGS] = {0};
  npb_begin(&n, "EP", "ep_seq", (npb_team){.count = 1}, false, argc, argv);
  const ep_job job = ep_begin(&n);
  for (int k = 0; k < job.batches; k++) ep_batch(k, &x, &y, counts);
  return ep_finish(&job, &n, x, y, counts);
}
