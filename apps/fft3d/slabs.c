#include "slabs.h"

#include <stdlib.h>
#include <string.h>

#include "../common/memory.h"

slabs slabs_shape(const fft3d* f, parts parts) {
  const size_t n = (size_t)f->run.size, page = 4096 / sizeof(fftw_complex);
  slabs s = {.parts = parts, .n = f->run.size, .share = (f->run.size - 1) / parts.count + 1};
  s.pitch = (n * n + page - 1) / page * page;
  s.part = (size_t)s.share * s.pitch;
  return s;
}

bool slabs_plan(slabs_own* own, const slabs* s, const fft3d* f) {
  const int n = s->n;
  fftw_complex* const other =
      memory_pages(s->pitch * sizeof *other); /* in the place of a plane of the input, or output */
  *own = (slabs_own){memory_pages(s->pitch * sizeof *own->plane), NULL, NULL};
  if (own->plane != NULL && other != NULL) {
    own->planes = fftw_plan_dft_2d(n, n, other, own->plane, FFTW_FORWARD, f->flags | FFTW_PRESERVE_INPUT);
    own->columns = fftw_plan_many_dft(1, &n, n, own->plane, NULL, n, 1, other, NULL, n, 1, FFTW_FORWARD, f->flags);
  }
  free(other);
  return own->planes != NULL && own->columns != NULL;
}

void slabs_close(slabs_own* own) {
  if (own->planes != NULL) fftw_destroy_plan(own->planes);
  if (own->columns != NULL) fftw_destroy_plan(own->columns);
  free(own->plane);
}

/* Of what part `from` has staged: the planes of the y of part `to`, [y][z of `from`][x]. */
static fftw_complex* block(const slabs* s, int from, int to) {
  const size_t planes = (size_t)(slabs_first(s, from + 1) - slabs_first(s, from));
  return s->staged + (size_t)from * s->part + planes * (size_t)slabs_first(s, to) * (size_t)s->n;
}

/* Rows of plane number z of part `part` to their destinations. */
static void stage(const slabs* s, const fftw_complex* plane, int part, int z) {
  const size_t row = (size_t)s->n, planes = (size_t)(slabs_first(s, part + 1) - slabs_first(s, part));
  fftw_complex* to = block(s, part, 0) + (size_t)z * row; /* blocks follow each other */
  for (int y = 0; y < s->n; y++) memcpy(to + (size_t)y * planes * row, plane + (size_t)y * row, row * sizeof *to);
}

/* Plane number y of part `part`, [z][x]. */
static void take(const slabs* s, fftw_complex* plane, int part, int y) {
  const size_t row = (size_t)s->n;
  for (int from = 0; from < s->parts.count; from++) {
    const int first = slabs_first(s, from), planes = slabs_first(s, from + 1) - first;
    const size_t numbers = (size_t)planes * row;
    memcpy(plane + (size_t)first * row, block(s, from, part) + (size_t)y * numbers, numbers * sizeof *plane);
  }
}

void slabs_transform(const slabs* s, const slabs_own* own, int part, split* split, int thread) {
  const int count = slabs_first(s, part + 1) - slabs_first(s, part);
  double clock = team_now();
  for (int z = 0; z < count; z++) {
    fftw_complex* const from = (fftw_complex*)s->input + (size_t)part * s->part + (size_t)z * s->pitch;
    fftw_execute_dft(own->planes, from, own->plane);
    clock = split_add(split, thread, FFT3D_PLANES, clock);
    stage(s, own->plane, part, z);
    clock = split_add(split, thread, FFT3D_MOVE, clock);
  }
  s->parts.wait();
  clock = team_now();
  for (int from = 0; from < s->parts.count; from++)
    if (from != part)
      parts_fetch(&s->parts, block(s, from, part),
                  (size_t)(block(s, from, part + 1) - block(s, from, part)) * sizeof(fftw_complex));
  for (int y = 0; y < count; y++) {
    take(s, own->plane, part, y);
    clock = split_add(split, thread, FFT3D_MOVE, clock);
    fftw_execute_dft(own->columns, own->plane, s->output + (size_t)part * s->part + (size_t)y * s->pitch);
    clock = split_add(split, thread, FFT3D_COLUMNS, clock);
  }
  s->parts.wait(); /* others may still take what is staged */
}
