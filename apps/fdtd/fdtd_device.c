/* Sound in a box on devices. The planes of a rank are divided into slabs, one for each of its devices, which has copies
 * of them and of the planes on either side. After each update of u and of p these are exchanged: those of another
 * device of the rank come from there, those of another rank through the shared arrays. kernel.c has the kernels. */
#include <stdlib.h>

#include "kernel.h"
#include "shared_fields.h"

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

/* Returns the section of what probes have measured in planes of this rank. */
static hiroba_section record_of(const fdtd* f, int z0, int z1) {
  const size_t plane = (size_t)f->probe_count * (size_t)f->steps;
  return hiroba_bytes(f->record + (size_t)(z0 - f->first) * plane, (size_t)(z1 - z0) * plane * sizeof *f->record);
}

static void constants_of(const fdtd* f, const slab_of_rank* slab, double* const keep[3], double* const add[3],
                         hiroba_section out[CONSTANTS]) {
  const int count = slab->z1 - slab->z0;
  out[0] = hiroba_bytes(f->solid + (slab->z0 - HALO) * f->plane, (size_t)(count + 2 * HALO) * (size_t)f->plane);
  out[1] = hiroba_bytes(f->kind + (ptrdiff_t)slab->z0 * f->rows, (size_t)count * (size_t)f->rows);
  for (int d = 0; d < 3; d++) {
    const size_t bytes = (size_t)((d == 0 ? PAD_X : PAD) + f->size[d] + PAD) * sizeof *keep[d];
    out[2 + d] = hiroba_bytes(keep[d], bytes), out[5 + d] = hiroba_bytes(add[d], bytes);
  }
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static hiroba_access use(int mode, hiroba_section section) { return (hiroba_access){mode, NULL, section, 0, 0}; }

/* These set `uses` to the data of a kernel, in the order of kernel.h, and return their number. */
static int uses_of_u(const devices* d, const slab_of_rank* slab, hiroba_access uses[U_DATA]) {
  const fdtd* f = d->f;
  const int z0 = slab->z0, z1 = slab->z1;
  uses[U_P] = use(HIROBA_IN, planes(f, d->a->p, z0 - of_p.below, z1 + of_p.above));
  for (int i = 0; i < 3; i++) uses[U_X + i] = use(HIROBA_INOUT, planes(f, d->a->u[i], z0, z1));
  hiroba_section constants[CONSTANTS];
  constants_of(f, slab, f->keep_u, f->add_u, constants);
  for (int i = 0; i < CONSTANTS; i++) uses[U_CONSTANTS + i] = use(HIROBA_IN, constants[i]);
  return U_DATA;
}

static int uses_of_p(const devices* d, const slab_of_rank* slab, hiroba_access uses[P_MOST_DATA]) {
  const fdtd* f = d->f;
  const int z0 = slab->z0, z1 = slab->z1;
  uses[P_Z] = use(HIROBA_IN, planes(f, d->a->u[2], z0 - of_u.below, z1 + of_u.above));
  for (int i = 0; i < 2; i++) uses[P_X + i] = use(HIROBA_IN, planes(f, d->a->u[i], z0, z1));
  uses[P_P] = use(HIROBA_INOUT, planes(f, d->a->p, z0, z1));
  hiroba_section constants[CONSTANTS];
  constants_of(f, slab, f->keep_p, f->add_p, constants);
  for (int i = 0; i < CONSTANTS; i++) uses[P_CONSTANTS + i] = use(HIROBA_IN, constants[i]);
  int count = P_OTHERS;
  if (f->probe_count > 0) uses[count++] = use(HIROBA_INOUT, record_of(f, z0, z1));
  for (int b = 0; b < FACES; b++)
    if (f->layers[b] > 0) uses[count++] = use(HIROBA_INOUT, layer_planes(f, d->a->split[b], b, z0, z1));
  return count;
}

static void launch_u(const devices* d, slab_of_rank* slab, int step) {
  hiroba_access uses[U_DATA];
  const kernel_argument argument = {slab, step};
  hiroba_device_launch(&fdtd_u_kernel, slab->stream, uses, uses_of_u(d, slab, uses), &argument, sizeof argument);
}

static void launch_p(const devices* d, slab_of_rank* slab, int step) {
  hiroba_access uses[P_MOST_DATA];
  const kernel_argument argument = {slab, step};
  hiroba_device_launch(&fdtd_p_kernel, slab->stream, uses, uses_of_p(d, slab, uses), &argument, sizeof argument);
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
  team_agree(&f->team, first.kind == HIROBA_DEVICE_HOST || fdtd_u_kernel.cuda != NULL, TEAM_BAD_INPUT,
             "there was no nvcc where this program was built, so it has no kernels for %s; use hirobarun --devices "
             "host:%d",
             first.name, f->devices);
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
    hiroba_access uses[U_DATA + P_MOST_DATA];
    int count = uses_of_u(&d, slab, uses);
    count += uses_of_p(&d, slab, uses + count);
    /* Data that is only read comes first: it has more planes, and data that is written becomes a part of these. */
    for (int mode = HIROBA_IN; mode <= HIROBA_INOUT; mode++)
      for (int i = 0; i < count; i++)
        if (uses[i].mode == mode) hiroba_device_preload(&uses[i].section, slab->stream, NULL);
  }
  return d;
}

/* Waits for the devices, and brings the planes of this rank into the memory of the processor. */
static void fetch(void* of) {
  const devices* d = of;
  for (int k = 0; k < d->count; k++) {
    const slab_of_rank* slab = &d->slabs[k];
    hiroba_access uses[U_DATA + P_MOST_DATA];
    int count = uses_of_u(d, slab, uses);
    count += uses_of_p(d, slab, uses + count);
    for (int i = 0; i < count; i++)
      if (uses[i].mode == HIROBA_INOUT) hiroba_device_overload(&uses[i].section, slab->stream, NULL);
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
