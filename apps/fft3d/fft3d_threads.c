/* The Fourier transform of a cube, by FFTW with the threads of OpenMP. */
#include <omp.h>
#include <stdlib.h>

#include "fft3d.h"

typedef struct variant {
  fft3d common;
  fftw_plan plan;
} variant;

static void steps(void* of, int from, int to) {
  variant* const v = of;
  for (int step = from; step < to; step++) fftw_execute(v->plan);
}

int main(int argc, char** argv) {
  variant v;
  fft3d* const f = &v.common;
  fft3d_begin(f, (team){.count = 1, .program = "fft3d_threads"}, omp_get_max_threads(), argc, argv);
  const int n = f->count = f->run.size;
  f->pitch = (size_t)n * (size_t)n;
  fftw_complex *const input = fft3d_memory(f, f->pitch * (size_t)n), *const output =
                                                                         fft3d_memory(f, f->pitch * (size_t)n);
  team_agree(&f->run.team, fftw_init_threads() != 0, TEAM_BAD_INPUT, "FFTW has no threads here");
  fftw_plan_with_nthreads(f->run.threads);
  v.plan = fftw_plan_dft_3d(n, n, n, input, output, FFTW_FORWARD, f->flags | FFTW_PRESERVE_INPUT);
#pragma omp parallel for schedule(static)
  for (int z = 0; z < n; z++) {
    fft3d_fill(f, input + (size_t)z * f->pitch, z);
    fft3d_fill(f, output + (size_t)z * f->pitch, z);
  }
  f->output = output;
  const int status = fft3d_run(f, steps);
  fftw_destroy_plan(v.plan);
  fftw_cleanup_threads();
  free(input);
  free(output);
  return status;
}
