/* The Fourier transform of a cube, with OpenMP: the threads are parts (slabs.h) that transpose by shared memory. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "slabs.h"

typedef struct variant {
  fft3d common;
  slabs slabs;
  slabs_own* own; /* of each thread */
} variant;

static void steps(void* of, int from, int to) {
  variant* const v = of;
#pragma omp parallel num_threads(v->slabs.parts.count)
  {
    const int part = omp_get_thread_num();
    for (int step = from; step < to; step++)
      slabs_transform(&v->slabs, &v->own[part], part, &v->common.run.split, part);
  }
}

int main(int argc, char** argv) {
  variant v;
  fft3d* const f = &v.common;
  fft3d_begin(f, (team){.count = 1, .program = "fft3d_omp"}, omp_get_max_threads(), argc, argv);
  const int threads = f->run.threads;
  slabs* const s = &v.slabs;
  *s = slabs_shape(f, parts_threads(threads));
  const size_t all = (size_t)threads * s->part;
  fftw_complex* const input = fft3d_memory(f, all);
  s->input = input;
  s->staged = fft3d_memory(f, all);
  f->output = s->output = fft3d_memory(f, all);
  f->pitch = s->pitch;
  f->count = s->n;
  f->of_y = true;
  v.own = calloc((size_t)threads, sizeof *v.own);
  bool good = v.own != NULL;
  for (int t = 0; good && t < threads; t++) good = slabs_plan(&v.own[t], s, f);
  team_agree(&f->run.team, good, TEAM_BAD_INPUT, "FFTW has no plan, or no memory, for %d threads", threads);
#pragma omp parallel num_threads(threads)
  {
    const int part = omp_get_thread_num(), first = slabs_first(s, part);
    memset(s->staged + (size_t)part * s->part, 0, s->part * sizeof *s->staged);
    memset(s->output + (size_t)part * s->part, 0, s->part * sizeof *s->output);
    for (int z = first; z < slabs_first(s, part + 1); z++) fft3d_fill(f, input + (size_t)z * s->pitch, z);
  }
  const int status = fft3d_run(f, steps);
  for (int t = 0; t < threads; t++) slabs_close(&v.own[t]);
  free(v.own);
  free(input);
  free(s->staged);
  free(s->output);
  return status;
}
