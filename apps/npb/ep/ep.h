/* ep.h: Embarrassingly Parallel, but for how its ranks divide the work: pairs of normal deviates from uniform ones, in
 * batches, whose sums and counts are compared with the published ones. Local, but for ep_begin and ep_finish. */
#ifndef NPB_EP_H
#define NPB_EP_H

#include "../npb.h"

enum { EP_RINGS = 10 };

typedef struct ep_job {
  int log_pairs; /* of the class: 2^log_pairs pairs */
  int batches;   /* of pairs, each as long as the others */
  double expected_x, expected_y;
} ep_job;

/* The job of n->class, and starts the clock. Collective. */
ep_job ep_begin(npb* n);

/* Adds the deviates of batch number `batch` to sums, and to counts those in each square ring around 0. */
void ep_batch(int batch, double* x, double* y, double counts[EP_RINGS]);

/* Stops the clock, verifies the sums over all ranks and reports. Returns the exit status. Collective. */
int ep_finish(const ep_job* job, npb* n, double x, double y, const double counts[EP_RINGS]);

#endif
