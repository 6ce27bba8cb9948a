/* Integer Sort with coarrays, in the way of the XcalableMP paper: an image reads how many keys everybody has of each
 * bucket, so it knows where its own belong at each image. It sorts them straight into the coarrays of images on its
 * node, and puts them, a section for each, to the others. */
#include <xmp.h>

#include "is.h"

// clang-format off: it takes sections for labels
int sizes[IS_SIZES]:[*];
int* received:[*];

static double sum_over_images(double mine) {
#pragma xmp reduction(+ : mine)
  return mine;
}

static const int* exchange(is_job* job, int* totals, int* bounds) {
  int before[IS_SIZES] = {0}, *near[IS_BUCKETS]; /* the sizes of all images before this one; its keys at each image */
  xmp_sync_all(NULL);
  for (int i = 0; i < job->ranks; i++) totals[0:IS_SIZES] += sizes[:]:[i];
  for (int i = 0; i < job->me; i++) before[:] += sizes[:]:[i];
  is_bounds(job, totals, bounds);
  for (int i = 0; i < job->ranks; i++)
    near[i] = xmp_near(xmp_desc_of(received), i, received + is_sum(before, bounds[i], bounds[i + 1]), 0);
  is_sort(job, bounds, near);
  for (int i = 0; i < job->ranks; i++) {
    const int at = is_sum(before, bounds[i], bounds[i + 1]), count = is_sum(sizes, bounds[i], bounds[i + 1]);
    if (near[i] == NULL) received[at:count]:[i] = job->sorted[is_sum(sizes, 0, bounds[i]):count];
  }
  xmp_sync_all(NULL);
  return received;
}

/* Coarrays lie in huge pages as soon as they are in use, so what only this image uses is one, too. */
static void* memory(size_t bytes) { return xmp_coarray_malloc(1, 1, (int64_t[]){bytes}, "array", "npb")->data; }

int main(int argc, char** argv) {
  npb n;
  npb_team team = {xmpc_this_image(), xmp_num_images(), sum_over_images, xmp_finalize, memory};
  npb_begin(&n, "IS", "is_xmp", team, false, argc, argv);
  is_job job = is_begin(&n, sizes, exchange);
  received = xmp_malloc(xmp_desc_of(received), job.capacity);
  return is_run(&job, &n);
}
