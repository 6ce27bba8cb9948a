/* Conjugate Gradient with coarrays, in the way of the XcalableMP paper: the contributions to a row of the matrix are
 * summed in a hypercube of the images that share the row, each reading its partner's (get) or, with --accumulate,
 * adding its own to the partner's (put), and the sums are read from the transposed image.
 *
 * An image changes what others read only after all have synchronised: a reduction orders no accesses. */
#include <xmp.h>

#include "cg.h"

// clang-format off: it takes sections for labels
double* w:[*]; /* after each step of the hypercube, job->most_height sums */

static double sum_over_images(double mine) {
#pragma xmp reduction(+ : mine)
  return mine;
}

/* All rows have the same vectors. */
static double sum_over_row(const cg_job* job, double mine) { return sum_over_images(mine) / job->rows; }

static const double* exchange(const cg_job* job, double* q) {
  const int part = job->part, length = job->part_length;
  int at = 0;
  for (int step = 0, to; step < job->doublings; step++, at = to) {
    const int partner = cg_partner(job, step);
    const cg_rows theirs = cg_lacks(job, step);
    to = theirs.first == part ? at + job->most_height : at; /* elsewhere, if both change what the other one reads */
    if (to != at) w[to + part:length] = w[at + part:length];
    xmp_sync_image(partner, NULL);
    if (job->n->accumulate) w[to + theirs.first:theirs.count]:[partner] += w[at + theirs.first:theirs.count];
    else w[to + part:length] += w[at + part:length]:[partner];
    if (job->n->accumulate) xmp_sync_image(partner, NULL);
  }
  const double* sums = w + at + part;
  if (job->transpose != job->me) {
    xmp_sync_image(job->transpose, NULL);
    q[0:job->width] = w[at + job->transpose_part:job->width]:[job->transpose];
    sums = q;
  }
  xmp_sync_all(NULL); /* the next exchange changes what others have read here */
  return sums;
}

/* Coarrays lie in huge pages as soon as they are in use, so what only this image uses is one, too. */
static void* memory(size_t bytes) { return xmp_coarray_malloc(1, 1, (int64_t[]){bytes}, "array", "npb")->data; }

int main(int argc, char** argv) {
  npb n;
  npb_team team = {xmpc_this_image(), xmp_num_images(), sum_over_images, xmp_finalize, memory};
  npb_begin(&n, "CG", "cg_xmp", team, true, argc, argv);
  cg_job job = cg_begin(&n, sum_over_row, exchange);
  job.w = w = xmp_malloc(xmp_desc_of(w), (job.doublings + 1) * job.most_height);
  xmp_sync_all(NULL); /* the matrix is there, and can be gathered */
  return cg_run(&job, &n);
}
