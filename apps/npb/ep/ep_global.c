/* Embarrassingly Parallel in XcalableMP's global view: the batches are a template, which a loop shares. */
#include <xmp.h>

#include "ep.h"

#pragma xmp nodes nodes[*]

static double sum_over_nodes(double mine) {
#pragma xmp reduction(+ : mine)
  return mine;
}

int main(int argc, char** argv) {
  npb n;
  npb_team team = {.rank = xmpc_node_num(), .count = xmp_num_nodes(), .sum = sum_over_nodes, .leave = xmp_finalize};
  double x = 0, y = 0, counts[EP_RINGS] = {0};
  npb_begin(&n, "EP", "ep_global", team, false, argc, argv);
  const ep_job job = ep_begin(&n);
#pragma xmp template t[job.batches]
#pragma xmp distribute t[block] onto nodes
#pragma xmp loop on t[k] reduction(+ : x, y, counts)
  for (int k = 0; k < job.batches; k++) ep_batch(k, &x, &y, counts);
  return ep_finish(&job, &n, x, y, counts);
}
