/* The Fourier transform of a cube, by FFTW in one thread. */
#include <stdlib.h>

#include "fft3d.h"

typedef struct variant {
  fft3d common;
  fftw_plan plan;
} variant;

static void steps(void* of, int from, int to) {
  variant* const v = of;
  for (int step = from; step < to; step++) {
    const double clock = team_now();
    fftw_execute(v->plan);
    split_add(&v->common.run.split, 0, FFT3D_PLANES, clock);
  }
}

int main(int argc, char** argv) {
  variant v;
  fft3d* const f = &v.common;
  fft3d_begin(f, (team){.count = 1, .program = "fft3d_serial"}, 1, argc, argv);
  const int n = f->count = f->run.size;
  f->pitch = (size_t)n * (size_t)n;
  fftw_complex *const input = fft3d_memory(f, f->pitch * (size_t)n), *const output =
                                                                         fft3d_memory(f, f->pitch * (size_t)n);
  v.plan = fftw_plan_dft_3d(n, n, n, input, output, FFTW_FORWARD, f->flags | FFTW_PRESERVE_INPUT);
  for (int z = 0; z < n; z++) fft3d_fill(f, input + (size_t)z * f->pitch, z);
  for (int z = 0; z < n; z++) fft3d_fill(f, output + (size_t)z * f->pitch, z);
  f->output = output;
  const int status = fft3d_run(f, steps);
  fftw_destroy_plan(v.plan);
  free(input);
  free(output);
  return status;
}
