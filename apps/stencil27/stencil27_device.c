/* The 27-point stencil on devices. The planes of a rank are divided into K slabs, each of which a stream of its own
 * computes; several slabs may be on one device, which has one copy of their planes and of `depth` planes on either
 * side. The slabs of a device read one another's planes there; planes of another device come from that device, and
 * those of another rank through the shared array. */
#include <stdlib.h>

#include "../common/memory.h"
#include "../common/shared_fields.h"
#include "kernel.h"

typedef struct slab_of_rank {
  int z0, z1; /* its planes */
  int unit;
  hiroba_stream stream, ended; /* ended: a mark between two blocks of steps */
  stencil27 host;              /* for host devices */
} slab_of_rank;

/* A device, and the planes of its slabs. */
typedef struct unit {
  int lo, hi;
  hiroba_stream halo; /* brings it planes that others compute, and other ranks planes of it */
} unit;

typedef struct devices {
  const job* job;
  int depth, slab_count, unit_count, turn;
  slab_of_rank* slabs;
  unit* units;
  hiroba_stream pace[2]; /* the program is at most two blocks of steps ahead of its devices */
  int64_t forwards, bytes_forwarded;
} devices;

static hiroba_section planes(const job* job, const double* field, int z0, int z1) {
  const size_t plane = (size_t)job->plane_points * sizeof *field;
  return hiroba_bytes(field + z0 * job->plane_points, (size_t)(z1 - z0) * plane);
}

/* The planes of the box within `width` planes of [lo, hi). */
static hiroba_section around(const job* job, const double* field, int lo, int hi, int width) {
  return planes(job, field, larger(lo - width, 0), smaller(hi + width, job->nz + 2));
}

/* ---- start ------------------------------------------------------------------------------------------------------- */

/* Each stream of a host device computes with its share of the threads. Returns false if memory is short. */
static bool prepare_host(const stencil27* s, int slabs, stencil27* out) {
  *out = *s;
  out->job.threads = larger(s->job.threads / slabs, 1);
  out->scratch = calloc((size_t)out->job.threads, sizeof *out->scratch);
  bool good = out->scratch != NULL;
  for (int t = 0; good && t < out->job.threads; t++) good = (out->scratch[t] = memory_pages(scratch_bytes(s))) != NULL;
  return good;
}

static void check_devices(const stencil27* s, bool idle) {
  const int count = hiroba_device_count();
  hiroba_device_properties first = {.kind = HIROBA_DEVICE_HOST};
  if (count > 0) hiroba_device_get(0, &first);
  const bool cuda = first.kind == HIROBA_DEVICE_CUDA;
  team_agree(&s->job.team, idle || count > 0, TEAM_BAD_INPUT,
             "a rank has no device; hirobarun --devices host:1 gives each node one that is a thread");
  team_agree(&s->job.team, !cuda || stencil27_kernel.cuda != NULL, TEAM_BAD_INPUT,
             "there was no nvcc where this program was built, so it has no kernels for %s; use hirobarun --devices "
             "host:1",
             first.name);
  team_agree(&s->job.team, !cuda || s->depth <= STENCIL27_MOST_DEPTH, TEAM_BAD_INPUT,
             "%s computes at most %d steps at once; use a smaller --depth than %d", first.name, STENCIL27_MOST_DEPTH,
             s->depth);
}

/* Returns false if memory is short. */
static bool divide(devices* d, const stencil27* s) {
  const int lo = d->job->lo, count = d->job->hi - lo, slabs = d->slab_count;
  if (slabs < 1) return true;
  d->slabs = calloc((size_t)slabs, sizeof *d->slabs);
  d->units = calloc((size_t)d->unit_count, sizeof *d->units);
  if (d->slabs == NULL || d->units == NULL) return false;
  bool good = true;
  for (int k = 0; k < slabs; k++) {
    slab_of_rank* const slab = &d->slabs[k];
    unit* const u = &d->units[slab->unit = k * d->unit_count / slabs];
    slab->z0 = lo + (int)((int64_t)count * k / slabs), slab->z1 = lo + (int)((int64_t)count * (k + 1) / slabs);
    slab->stream = hiroba_stream_create(slab->unit), slab->ended = hiroba_stream_create(slab->unit);
    good = prepare_host(s, slabs, &slab->host) && good;
    if (u->halo == NULL) *u = (unit){.lo = slab->z0, .halo = hiroba_stream_create(slab->unit)};
    u->hi = slab->z1;
  }
  for (int i = 0; i < 2; i++) d->pace[i] = hiroba_stream_create(0);
  return good;
}

static devices begin(const stencil27* s) {
  const job* job = &s->job;
  devices d = {.job = job, .depth = s->depth, .slab_count = smaller(s->devices, job->hi - job->lo)};
  check_devices(s, d.slab_count == 0);
  if (d.slab_count > 0) d.unit_count = smaller(hiroba_device_count(), d.slab_count);
  team_agree(&job->team, divide(&d, s), TEAM_BAD_INPUT,
             "there is no memory for the threads of %d "
             "slabs; use a smaller --depth or --block-y",
             d.slab_count);
  return d;
}

static void release(devices* d) {
  for (slab_of_rank* slab = d->slabs; slab < d->slabs + d->slab_count; slab++) {
    for (int t = 0; t < slab->host.job.threads; t++) free(slab->host.scratch[t]);
    free(slab->host.scratch);
  }
  free(d->slabs);
  free(d->units);
}

static void preload(const devices* d, const double* field) {
  for (const unit* u = d->units; u < d->units + d->unit_count; u++) {
    const hiroba_section section = around(d->job, field, u->lo, u->hi, d->depth);
    hiroba_device_preload(&section, u->halo, NULL);
  }
  for (int u = 0; u < d->unit_count; u++) hiroba_stream_wait(d->units[u].halo);
}

/* ---- a block of steps -------------------------------------------------------------------------------------------- */

/* On one device, slabs that are thicker than what they read of others begin a block when their neighbours have ended
 * the last one; so the device is busy while the last blocks of some slab are computed. */
static bool order_neighbours(const devices* d) {
  const int count = d->slab_count, planes = d->job->hi - d->job->lo;
  if (d->job->team.count > 1 || d->unit_count != 1 || planes / count < d->depth) return false;
  for (int k = 0; k < count; k++) hiroba_stream_after(d->slabs[k].ended, d->slabs[k].stream);
  for (int k = 0; k < count; k++) {
    if (k > 0) hiroba_stream_after(d->slabs[k].stream, d->slabs[k - 1].ended);
    if (k < count - 1) hiroba_stream_after(d->slabs[k].stream, d->slabs[k + 1].ended);
  }
  return true;
}

/* Slabs read planes of one another, so each stream begins a block when all have ended the last one. */
static void order_streams(const devices* d) {
  if (order_neighbours(d)) return;
  for (int k = 0; k < d->slab_count; k++) {
    hiroba_stream_after(d->slabs[k].stream, d->units[d->slabs[k].unit].halo);
    if (k > 0) hiroba_stream_after(d->slabs[k].stream, d->slabs[k - 1].stream);
  }
  for (int k = d->slab_count - 2; k >= 0; k--) hiroba_stream_after(d->slabs[k].stream, d->slabs[k + 1].stream);
  for (int u = 0; u < d->unit_count; u++) hiroba_stream_after(d->units[u].halo, d->slabs[0].stream);
}

static void launch(const devices* d, const slab_of_rank* slab, const double* from, double* to, int steps, int z0,
                   int z1) {
  if (z0 >= z1) return;
  const job* job = d->job;
  const kernel_argument argument = {{.plane = job->plane_points,
                                     .row = job->row,
                                     .shift = job->shift,
                                     .nx = job->nx,
                                     .ny = job->ny,
                                     .nz = job->nz,
                                     .z0 = z0,
                                     .z1 = z1,
                                     .chunk = (d->slab_count + d->unit_count - 1) / d->unit_count},
                                    steps,
                                    &slab->host};
  const hiroba_access uses[] = {{HIROBA_IN, NULL, around(job, from, z0, z1, steps), 0, 0},
                                {HIROBA_INOUT, NULL, planes(job, to, z0, z1), 0, 0}};
  hiroba_device_launch(&stencil27_kernel, slab->stream, uses, 2, &argument, sizeof argument);
}

/* The planes of a slab that others need, those of its device within `depth` of others', are [z0, first) and [last, z1).
 * They come first, so that they are on their way while the rest is computed. */
typedef struct ends {
  int first, last;
} ends;

static ends ends_of(const devices* d, const slab_of_rank* slab) {
  const unit* u = &d->units[slab->unit];
  const int first = u->lo > 1 ? u->lo + d->depth : 0, last = u->hi <= d->job->nz ? u->hi - d->depth : d->job->nz + 1;
  ends out = {smaller(larger(first, slab->z0), slab->z1), 0};
  out.last = smaller(larger(last, out.first), slab->z1);
  return out;
}

static void forward(devices* d, const double* field, int width) {
  for (const unit* u = d->units; u < d->units + d->unit_count; u++)
    for (const slab_of_rank* slab = d->slabs; slab < d->slabs + d->slab_count; slab++) {
      const int z0 = larger(slab->z0, u->lo - width), z1 = smaller(slab->z1, u->hi + width);
      if (&d->units[slab->unit] == u || z0 >= z1) continue;
      const hiroba_section section = planes(d->job, field, z0, z1);
      hiroba_device_forward(&section, u->halo, slab->stream);
      d->forwards++, d->bytes_forwarded += (int64_t)section.bytes;
    }
}

/* OVERLOAD: what other ranks read of this one, into the shared array. */
static void give(const devices* d, const double* field, int width) {
  const job* job = d->job;
  for (const slab_of_rank* slab = d->slabs; slab < d->slabs + d->slab_count; slab++) {
    const int low = job->lo > 1 ? smaller(slab->z1, job->lo + width) : slab->z0;
    const int high = larger(job->hi <= job->nz ? larger(slab->z0, job->hi - width) : slab->z1, low);
    const hiroba_section sections[] = {planes(job, field, slab->z0, larger(low, slab->z0)),
                                       planes(job, field, high, larger(slab->z1, high))};
    hiroba_stream_after(d->units[slab->unit].halo, slab->stream);
    for (int i = 0; i < 2; i++)
      if (sections[i].bytes > 0) hiroba_device_overload(&sections[i], d->units[slab->unit].halo, NULL);
  }
}

/* PRELOAD: the planes of other ranks that the next steps read. */
static void take(const devices* d, const double* field, int width) {
  const job* job = d->job;
  for (const unit* u = d->units; u < d->units + d->unit_count; u++) {
    const int low = larger(u->lo - width, 1), high = smaller(u->hi + width, job->nz + 1);
    const hiroba_section sections[] = {planes(job, field, low, larger(job->lo, low)),
                                       planes(job, field, smaller(job->hi, high), high)};
    for (int i = 0; i < 2; i++)
      if (sections[i].bytes > 0) hiroba_device_preload(&sections[i], u->halo, NULL);
  }
}

/* `to` becomes what `from` is after `steps` steps, on the devices; then they get what the `next` steps after these
 * read. */
static void advance_devices(devices* d, const double* from, double* to, int steps, int next) {
  const bool alone = d->job->team.count == 1;
  order_streams(d);
  for (const slab_of_rank* slab = d->slabs; slab < d->slabs + d->slab_count; slab++) {
    const ends e = ends_of(d, slab);
    launch(d, slab, from, to, steps, slab->z0, e.first);
    launch(d, slab, from, to, steps, e.last, slab->z1);
  }
  forward(d, to, next);
  if (!alone) give(d, to, next);
  for (const slab_of_rank* slab = d->slabs; slab < d->slabs + d->slab_count; slab++) {
    const ends e = ends_of(d, slab);
    launch(d, slab, from, to, steps, e.first, e.last);
  }
  if (!alone) {
    sms_sync_drop();
    take(d, to, next);
  }
  if (d->slab_count == 0) return;
  const hiroba_stream pace = d->pace[d->turn ^= 1];
  hiroba_stream_wait(pace);
  for (int k = 0; k < d->slab_count; k++) hiroba_stream_after(pace, d->slabs[k].stream);
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

/* Waits for the devices, and brings the planes of this rank, of which `own` are the first, into the memory of the
 * processor. */
static void fetch(void* of, const double* own) {
  const devices* d = of;
  const double* const field = own - d->job->first * d->job->plane_points;
  for (const slab_of_rank* slab = d->slabs; slab < d->slabs + d->slab_count; slab++) {
    hiroba_stream_after(slab->stream, d->units[slab->unit].halo);
    const hiroba_section section = planes(d->job, field, slab->z0, slab->z1);
    hiroba_device_overload(&section, slab->stream, NULL);
  }
  for (int k = 0; k < d->slab_count; k++) hiroba_stream_wait(d->slabs[k].stream);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  stencil27 s;
  stencil27_begin(&s, PROGRAM, shared_team(), argc, argv);
  job* job = &s.job;

  const shared_fields fields = shared_fields_fill(job);
  double *src = fields.src, *dst = fields.dst;
  const ptrdiff_t own = fields.own;

  devices d = begin(&s);
  job->fetch = fetch, job->fetch_of = &d;
  preload(&d, src);
  preload(&d, dst);
  job_start(job);
  bool more = true;
  for (int t = job->step, steps; t < job->steps && more; t += steps) {
    steps = job_depth(job, t, s.depth);
    advance_devices(&d, src, dst, steps, job_depth(job, t + steps, s.depth));
    double* old = src;
    src = dst;
    dst = old;
    more = job_step(job, t + steps, src + own);
  }
  for (int k = 0; k < d.slab_count; k++) hiroba_stream_wait(d.slabs[k].stream);
  job_stop(job);
  if (job->step < job->steps) fetch(&d, src + own);
  sms_barrier();

  counter counters[SHARED_COUNTERS + 4] = {{"devices", shared_total((uint64_t)d.unit_count)},
                                           {"slabs", shared_total((uint64_t)d.slab_count)},
                                           {"forwards", shared_total((uint64_t)d.forwards)},
                                           {"bytes_forwarded", shared_total((uint64_t)d.bytes_forwarded)}};
  shared_counters(counters + 4);
  release(&d);
  return stencil27_finish(&s, src + own, counters);
}
