/* The Fourier transform of a cube, on shared memory over any number of ranks: the ranks are parts (slabs.h) that
 * transpose by shared memory. */
#include "../common/shared.h"
#include "slabs.h"

typedef struct variant {
  fft3d common;
  slabs slabs;
  slabs_own own;
} variant;

static void steps(void* of, int from, int to) {
  variant* const v = of;
  for (int step = from; step < to; step++) slabs_transform(&v->slabs, &v->own, sms_rank, &v->common.run.split, 0);
}

/* An array of which each rank has a part. */
static fftw_complex* rows(const fft3d* f, const slabs* s) {
  fftw_complex* const out =
      shared_rows(&f->run.team, s->parts.count, (int64_t)s->part, sizeof(fftw_complex), f->run.team.program);
  sms_promise_preload(out);
  return out;
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  variant v;
  fft3d* const f = &v.common;
  team ranks = shared_team();
  ranks.program = "fft3d_hiroba";
  fft3d_begin(f, ranks, 1, argc, argv);
  slabs* const s = &v.slabs;
  *s = slabs_shape(f, shared_parts());
  fftw_complex* const input = rows(f, s);
  s->input = input;
  s->staged = rows(f, s);
  s->output = rows(f, s);
  f->first = slabs_first(s, sms_rank);
  f->count = slabs_first(s, sms_rank + 1) - f->first;
  f->of_y = true;
  f->pitch = s->pitch;
  f->output = s->output + (size_t)sms_rank * s->part;
  team_agree(&ranks, slabs_plan(&v.own, s, f), TEAM_BAD_INPUT, "FFTW has no plan, or no memory, for %d^3 numbers",
             s->n);
  for (int z = 0; z < f->count; z++)
    fft3d_fill(f, input + (size_t)sms_rank * s->part + (size_t)z * s->pitch, f->first + z);
  const int status = fft3d_run(f, steps);
  slabs_close(&v.own);
  return status;
}
