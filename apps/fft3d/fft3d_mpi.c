/* The Fourier transform of a cube, by FFTW with MPI. */
#include "../common/mpi_team.h"
#include "fft3d.h"

#include <fftw3-mpi.h>
#include <stdlib.h>

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

static void leave(void) {
  fftw_mpi_cleanup();
  mpi_leave();
}

int main(int argc, char** argv) {
  variant v;
  fft3d* const f = &v.common;
  team ranks = mpi_team("fft3d_mpi", &argc, &argv, MPI_THREAD_FUNNELED);
  fftw_mpi_init();
  ranks.leave = leave;
  fft3d_begin(f, ranks, 1, argc, argv);
  const ptrdiff_t n = f->run.size;
  ptrdiff_t planes, first, planes_out, first_out;
  const ptrdiff_t room =
      fftw_mpi_local_size_3d_transposed(n, n, n, MPI_COMM_WORLD, &planes, &first, &planes_out, &first_out);
  fftw_complex* const input = fft3d_memory(f, (size_t)room);
  fftw_complex* const output = fft3d_memory(f, (size_t)room);
  v.plan = fftw_mpi_plan_dft_3d(n, n, n, input, output, MPI_COMM_WORLD, FFTW_FORWARD,
                                f->flags | FFTW_MPI_TRANSPOSED_OUT | FFTW_PRESERVE_INPUT);
  f->pitch = (size_t)(n * n);
  for (int z = 0; z < planes; z++) fft3d_fill(f, input + (size_t)z * f->pitch, (int)first + z);
  for (ptrdiff_t i = 0; i < room; i++) output[i] = 0;
  f->first = (int)first_out;
  f->count = (int)planes_out;
  f->of_y = true;
  f->output = output;
  team_agree(&f->run.team, v.plan != NULL, TEAM_BAD_INPUT, "FFTW has no plan for %d^3 numbers", f->run.size);
  const int status = fft3d_run(f, steps);
  free(input);
  free(output);
  return status;
}
