/* The 7-point stencil of the mSMS paper with shared arrays and the threads of OpenMP. A rank computes the planes that
 * live with it and reads the planes beside them through plain pointers, wherever they are. */
#include "../common/shared_fields.h"
#include "stencil7.h"

static void sweep(const job* job, int z0, int z1, double* restrict dst, const double* src) {
  const ptrdiff_t row = job->nx + 2, plane = job->plane_points;
#pragma omp parallel for collapse(2) schedule(static)
  for (int zb = z0; zb < z1; zb += BLOCK_Z)
    for (int yb = 1; yb <= job->ny; yb += BLOCK_Y)
      for (int z = zb; z < smaller(zb + BLOCK_Z, z1); z++)
        for (int y = yb; y < smaller(yb + BLOCK_Y, job->ny + 1); y++) {
          double* restrict to = dst + z * plane + y * row;
          const double* at = src + z * plane + y * row;
          for (int x = 1; x <= job->nx; x++)
            to[x] =
                0.4 * at[x] + 0.1 * (at[x - plane] + at[x + plane] + at[x - row] + at[x + row] + at[x - 1] + at[x + 1]);
        }
}

/* Fetches the planes beside ours in one go each; page faults would fetch them too, a few pages at a time. */
static void fetch(const job* job, const double* field) {
  const sms_range below[] = {{job->lo - 1, 1, 1}, {0, job->plane_points, 1}};
  const sms_range above[] = {{job->hi, 1, 1}, {0, job->plane_points, 1}};
  sms_request planes[] = {sms_preload_start(field, below), sms_preload_start(field, above)};
  for (int i = 0; i < 2; i++) sms_preload_wait(&planes[i]);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  job job;
  job_begin(&job, &stencil7, "stencil_sms", shared_team(), argc, argv);

  const shared_fields fields = shared_fields_fill(&job);
  double *src = fields.src, *dst = fields.dst;
  const ptrdiff_t own = fields.own;

  /* Between nodes the planes that others read come first. Those inside, which need no plane of another rank, are
   * computed between the halves of the synchronisation, while the neighbours' planes are on their way. */
  const bool ahead = job.preload && sms_nnodes > 1 && job.lo < job.hi;
  const int inner = !ahead ? job.hi : job.first > 0 ? smaller(job.lo + 1, job.hi) : job.lo;
  const int inner_end = ahead && job.last < job.nz + 2 ? larger(job.hi - 1, inner) : job.hi;

  if (ahead) {
    sms_promise_preload(src);
    sms_promise_preload(dst);
    fetch(&job, src);
  }
  job_start(&job);
  bool more = true;
  for (int t = job.step; t < job.steps && more; t++) {
    sweep(&job, job.lo, inner, dst, src);
    sweep(&job, inner_end, job.hi, dst, src);
    sms_sync_drop_start();
    sweep(&job, inner, inner_end, dst, src);
    sms_sync_drop_wait();
    if (ahead) fetch(&job, dst);
    double* old = src;
    src = dst;
    dst = old;
    more = job_step(&job, t + 1, src + own);
  }
  job_stop(&job);

  counter counters[SHARED_COUNTERS];
  shared_counters(counters);
  return job_finish(&job, src + own, counters);
}
