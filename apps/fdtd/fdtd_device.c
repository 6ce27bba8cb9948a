/* Sound in a box on devices. The planes of a rank are divided into slabs, one for each of its devices, which has copies
 * of them and of the planes on either side. After each update of u and of p these are exchanged: those of another
 * device of the rank come from there, those of another rank through the shared arrays. The loops are those of update.c,
 * so these are host devices. */
#include <device.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "shared_fields.h"

typedef struct slab_of_rank {
  int z0, z1; /* its planes */
  hiroba_stream stream;
  fdtd host; /* with a share of the threads, and phases of its own */
} slab_of_rank;

typedef struct devices {
  fdtd* f;
  const fields* a;
  int count;
  slab_of_rank* slabs;
} devices;

/* ---- sections ---------------------------------------------------------------------------------------------------- */

static hiroba_section planes(const fdtd* f, const double* field, int z0, int z1) {
  return hiroba_bytes(field + z0 * f->plane, (size_t)(z1 - z0) * (size_t)f->plane * sizeof *field);
}
static hiroba_section layer_planes(const fdtd* f, const double* split, int b, int z0, int z1) {
  const ptrdiff_t plane = split_plane(f, b);
  return hiroba_bytes(split + z0 * plane, (size_t)(z1 - z0) * (size_t)plane * sizeof *split);
}

/* The planes that an update reads beside those that it writes. */
typedef struct reach {
  int below, above;
} reach;
static const reach of_p = {READ_BELOW_OF_P, READ_ABOVE_OF_P}, of_u = {READ_BELOW_OF_U, READ_ABOVE_OF_U};

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

typedef struct kernel_argument {
  slab_of_rank* slab;
  int step;
} kernel_argument;

static void begin_threads(const slab_of_rank* slab) {
  (void)slab;
#ifdef _OPENMP
  omp_set_num_threads(slab->host.threads); /* of this thread, which is the stream's */
#endif
}

static part all_rows(const slab_of_rank* slab) { return (part){slab->z0, slab->z1, PAD, PAD + slab->host.size[1]}; }

/* data: p with its neighbours, the three of u. */
static int u_on_host(void* const* data, const void* argument, void* stream) {
  (void)stream;
  slab_of_rank* const slab = ((const kernel_argument*)argument)->slab;
  const ptrdiff_t plane = slab->host.plane;
  fields a = {.p = (double*)data[0] - (slab->z0 - of_p.below) * plane};
  for (int d = 0; d < 3; d++) a.u[d] = (double*)data[1 + d] - slab->z0 * plane;
  begin_threads(slab);
  update_u(&slab->host, &a, all_rows(slab));
  return 0;
}
static const hiroba_kernel u_kernel = {"u", u_on_host, NULL};

/* data: u_z with its neighbours, the other two of u, p, and the parts of p in each layer that there is. */
static int p_on_host(void* const* data, const void* argument, void* stream) {
  (void)stream;
  const kernel_argument* const given = argument;
  slab_of_rank* const slab = given->slab;
  fdtd* const f = &slab->host;
  fields a = {.p = (double*)data[3] - slab->z0 * f->plane};
  a.u[2] = (double*)data[0] - (slab->z0 - of_u.below) * f->plane;
  for (int d = 0; d < 2; d++) a.u[d] = (double*)data[1 + d] - slab->z0 * f->plane;
  for (int b = 0, next = 4; b < FACES; b++)
    if (f->layers[b] > 0) a.split[b] = (double*)data[next++] - slab->z0 * split_plane(f, b);
  begin_threads(slab);
  update_p(f, &a, all_rows(slab));
  fdtd_sound(f, given->step, &a, all_rows(slab));
  return 0;
}
static const hiroba_kernel p_kernel = {"p", p_on_host, NULL};

static hiroba_access use(int mode, hiroba_section section) { return (hiroba_access){mode, NULL, section, 0, 0}; }

static void launch_u(const devices* d, slab_of_rank* slab, int step) {
  const int z0 = slab->z0, z1 = slab->z1;
  hiroba_access uses[4] = {use(HIROBA_IN, planes(d->f, d->a->p, z0 - of_p.below, z1 + of_p.above))};
  for (int i = 0; i < 3; i++) uses[1 + i] = use(HIROBA_INOUT, planes(d->f, d->a->u[i], z0, z1));
  const kernel_argument argument = {slab, step};
  hiroba_device_launch(&u_kernel, slab->stream, uses, 4, &argument, sizeof argument);
}

static void launch_p(const devices* d, slab_of_rank* slab, int step) {
  const int z0 = slab->z0, z1 = slab->z1;
  hiroba_access uses[4 + FACES] = {use(HIROBA_IN, planes(d->f, d->a->u[2], z0 - of_u.below, z1 + of_u.above))};
  for (int i = 0; i < 2; i++) uses[1 + i] = use(HIROBA_IN, planes(d->f, d->a->u[i], z0, z1));
  uses[3] = use(HIROBA_INOUT, planes(d->f, d->a->p, z0, z1));
  int count = 4;
  for (int b = 0; b < FACES; b++)
    if (d->f->layers[b] > 0) uses[count++] = use(HIROBA_INOUT, layer_planes(d->f, d->a->split[b], b, z0, z1));
  const kernel_argument argument = {slab, step};
  hiroba_device_launch(&p_kernel, slab->stream, uses, count, &argument, sizeof argument);
}

/* ---- planes of others -------------------------------------------------------------------------------------------- */

/* Each device goes on after all have done what they were asked for. */
static void join_streams(const devices* d) {
  for (int k = 1; k < d->count; k++) hiroba_stream_after(d->slabs[k].stream, d->slabs[k - 1].stream);
  for (int k = d->count - 2; k >= 0; k--) hiroba_stream_after(d->slabs[k].stream, d->slabs[k + 1].stream);
}

static void forward(const devices* d, const double* field, reach r) {
  for (int to = 0; to < d->count; to++)
    for (int from = 0; from < d->count; from++) {
      const slab_of_rank *target = &d->slabs[to], *source = &d->slabs[from];
      const int z0 = larger(source->z0, target->z0 - r.below), z1 = smaller(source->z1, target->z1 + r.above);
      if (to == from || z0 >= z1) continue;
      const hiroba_section section = planes(d->f, field, z0, z1);
      hiroba_device_forward(&section, target->stream, source->stream);
    }
}

/* OVERLOAD: what other ranks read of this one, into the shared array. */
static void give(const devices* d, const double* field, reach r) {
  const fdtd* f = d->f;
  for (int k = 0; k < d->count; k++) {
    const slab_of_rank* slab = &d->slabs[k];
    const int low = smaller(slab->z1, larger(slab->z0, f->lo + r.above));
    const int high = larger(low, smaller(slab->z1, f->hi - r.below));
    const hiroba_section sections[] = {planes(f, field, slab->z0, low), planes(f, field, high, slab->z1)};
    for (int i = 0; i < 2; i++)
      if (sections[i].bytes > 0) hiroba_device_overload(&sections[i], slab->stream, NULL);
  }
}

/* PRELOAD: the planes of other ranks. */
static void take(const devices* d, const double* field, reach r) {
  const fdtd* f = d->f;
  for (int k = 0; k < d->count; k++) {
    const slab_of_rank* slab = &d->slabs[k];
    const int low = larger(slab->z0 - r.below, PAD), high = smaller(slab->z1 + r.above, PAD + f->size[2]);
    const hiroba_section sections[] = {planes(f, field, low, larger(f->lo, low)),
                                       planes(f, field, smaller(f->hi, high), high)};
    for (int i = 0; i < 2; i++)
      if (sections[i].bytes > 0) hiroba_device_preload(&sections[i], slab->stream, NULL);
  }
}

/* All devices, and all ranks, have what they read of each other. */
static void exchange(const devices* d, const double* field, reach r) {
  join_streams(d);
  forward(d, field, r);
  if (sms_nprocs > 1) {
    give(d, field, r);
    sms_sync_drop();
    take(d, field, r);
  }
  join_streams(d);
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static void check_devices(const fdtd* f, bool idle) {
  const int count = hiroba_device_count();
  hiroba_device_properties first = {.kind = HIROBA_DEVICE_HOST};
  if (count > 0) hiroba_device_get(0, &first);
  team_agree(&f->team, idle || count >= f->devices, TEAM_BAD_INPUT,
             "--devices %d, and a rank has %d; hirobarun --devices host:%d gives each node more", f->devices, count,
             f->devices * sms_nprocs);
  team_agree(&f->team, first.kind == HIROBA_DEVICE_HOST, TEAM_BAD_INPUT,
             "this program has no kernels for %s; use hirobarun --devices host:%d", first.name, f->devices);
}

static devices begin(fdtd* f, const fields* a) {
  devices d = {.f = f, .a = a, .count = smaller(f->devices, f->hi - f->lo)};
  check_devices(f, d.count == 0);
  d.slabs = calloc((size_t)larger(d.count, 1), sizeof *d.slabs);
  team_agree(&f->team, d.slabs != NULL, TEAM_BAD_INPUT, "no memory for %d slabs", d.count);
  const int planes_of_rank = f->hi - f->lo;
  for (int k = 0; k < d.count; k++) {
    slab_of_rank* const slab = &d.slabs[k];
    *slab = (slab_of_rank){f->lo + planes_of_rank * k / d.count, f->lo + planes_of_rank * (k + 1) / d.count,
                           hiroba_stream_create(k), *f};
    slab->host.threads = larger(f->threads / d.count, 1);
    const hiroba_section all[] = {planes(f, a->p, slab->z0 - of_p.below, slab->z1 + of_p.above),
                                  planes(f, a->u[0], slab->z0, slab->z1), planes(f, a->u[1], slab->z0, slab->z1),
                                  planes(f, a->u[2], slab->z0 - of_u.below, slab->z1 + of_u.above)};
    for (int i = 0; i < 4; i++) hiroba_device_preload(&all[i], slab->stream, NULL);
    for (int b = 0; b < FACES; b++) {
      const hiroba_section layer = layer_planes(f, a->split[b], b, slab->z0, slab->z1);
      if (f->layers[b] > 0) hiroba_device_preload(&layer, slab->stream, NULL);
    }
  }
  return d;
}

/* Waits for the devices, and brings the planes of this rank into the memory of the processor. */
static void fetch(void* of) {
  const devices* d = of;
  for (int k = 0; k < d->count; k++) {
    const slab_of_rank* slab = &d->slabs[k];
    hiroba_section all[4 + FACES] = {planes(d->f, d->a->p, slab->z0, slab->z1)};
    int count = 1;
    for (int i = 0; i < 3; i++) all[count++] = planes(d->f, d->a->u[i], slab->z0, slab->z1);
    for (int b = 0; b < FACES; b++)
      if (d->f->layers[b] > 0) all[count++] = layer_planes(d->f, d->a->split[b], b, slab->z0, slab->z1);
    for (int i = 0; i < count; i++) hiroba_device_overload(&all[i], slab->stream, NULL);
  }
  for (int k = 0; k < d->count; k++) hiroba_stream_wait(d->slabs[k].stream);
}

static void end(devices* d) {
  for (int k = 0; k < d->count; k++)
    for (int i = 0; i < PHASES; i++) d->f->run.phase[i] += d->slabs[k].host.run.phase[i] / d->count;
  free(d->slabs);
}

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  fdtd f;
  fdtd_begin(&f, "fdtd_device", shared_team(), argc, argv);

  fields a = fdtd_shared_fields(&f);
  fdtd_check_begin(&f, &a);
  fdtd_start(&f);

  devices d = begin(&f, &a);
  f.fetch = fetch, f.fetch_of = &d;
  bool more = true;
  for (int step = f.step + 1; step <= f.steps && more; step++) {
    for (int k = 0; k < d.count; k++) launch_u(&d, &d.slabs[k], step);
    exchange(&d, a.u[2], of_u);
    for (int k = 0; k < d.count; k++) launch_p(&d, &d.slabs[k], step);
    exchange(&d, a.p, of_p);
    more = fdtd_step(&f, step, &a);
  }
  for (int k = 0; k < d.count; k++) hiroba_stream_wait(d.slabs[k].stream);
  run_stop(&f.run);
  if (f.step < f.steps) fetch(&d);
  f.fetch = NULL;
  end(&d);
  sms_sync_drop();

  counter counters[SHARED_COUNTERS];
  shared_counters(counters);
  return fdtd_finish(&f, &a, counters);
}
