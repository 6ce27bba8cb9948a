/* The kernels of fdtd_device. On host devices update.c computes, on those of NVIDIA cells.cu, which is compiled into
 * this program (CELLS_FATBIN, where there is nvcc) and started by the driver that device.h has loaded. */
#include "kernel.h"

#include "../common/cuda_kernels.h"
#ifdef _OPENMP
#include <omp.h>
#endif

static void begin_threads(const slab_of_rank* slab) {
  (void)slab;
#ifdef _OPENMP
  omp_set_num_threads(slab->host.threads); /* of this thread, which is the stream's */
#endif
}

static part all_rows(const slab_of_rank* slab) { return (part){slab->z0, slab->z1, PAD, PAD + slab->host.size[1]}; }

/* Takes the constants of a kernel from where the device has them. */
static void take_constants(slab_of_rank* slab, void* const* data, double* keep[3], double* add[3]) {
  fdtd* const f = &slab->host;
  f->solid = (unsigned char*)data[0] - (slab->z0 - HALO) * f->plane;
  f->kind = (unsigned char*)data[1] - (ptrdiff_t)slab->z0 * f->rows;
  for (int d = 0; d < 3; d++) keep[d] = data[2 + d], add[d] = data[5 + d];
}

static fields take_u(slab_of_rank* slab, void* const* data) {
  fdtd* const f = &slab->host;
  fields a = {.p = (double*)data[U_P] - (slab->z0 - of_p.below) * f->plane};
  for (int d = 0; d < 3; d++) a.u[d] = (double*)data[U_X + d] - slab->z0 * f->plane;
  take_constants(slab, data + U_CONSTANTS, f->keep_u, f->add_u);
  return a;
}

static fields take_p(slab_of_rank* slab, void* const* data) {
  fdtd* const f = &slab->host;
  fields a = {.p = (double*)data[P_P] - slab->z0 * f->plane};
  a.u[2] = (double*)data[P_Z] - (slab->z0 - of_u.below) * f->plane;
  for (int d = 0; d < 2; d++) a.u[d] = (double*)data[P_X + d] - slab->z0 * f->plane;
  take_constants(slab, data + P_CONSTANTS, f->keep_p, f->add_p);
  int next = P_OTHERS;
  if (f->probe_count > 0)
    f->record = (double*)data[next++] - (slab->z0 - f->first) * (ptrdiff_t)f->probe_count * f->steps;
  for (int b = 0; b < FACES; b++)
    if (f->layers[b] > 0) a.split[b] = (double*)data[next++] - slab->z0 * split_plane(f, b);
  return a;
}

static int u_on_host(void* const* data, const void* argument, void* stream) {
  (void)stream;
  slab_of_rank* const slab = ((const kernel_argument*)argument)->slab;
  const fields a = take_u(slab, data);
  begin_threads(slab);
  update_u(&slab->host, &a, all_rows(slab));
  return 0;
}

static int p_on_host(void* const* data, const void* argument, void* stream) {
  (void)stream;
  const kernel_argument* const given = argument;
  const fields a = take_p(given->slab, data);
  begin_threads(given->slab);
  update_p(&given->slab->host, &a, all_rows(given->slab));
  fdtd_sound(&given->slab->host, given->step, &a, all_rows(given->slab));
  return 0;
}

#ifndef CELLS_FATBIN
const hiroba_kernel fdtd_u_kernel = {"u", u_on_host, NULL}, fdtd_p_kernel = {"p", p_on_host, NULL};
#else
CUDA_FATBIN(fdtd_fatbin, CELLS_FATBIN);

enum { KERNEL_U, KERNEL_P, KERNEL_SOURCE, KERNEL_PROBE, KERNELS, THREADS = 128 };
static cuda_program program = {.image = fdtd_fatbin,
                               .count = KERNELS,
                               .names = {"fdtd_u", "fdtd_p", "fdtd_source", "fdtd_probe"},
                               .lock = PTHREAD_MUTEX_INITIALIZER};

/* The cells of a box in the planes of the slab. */
static cells cells_of(const slab_of_rank* slab, const fields* a, double* const keep[3], double* const add[3],
                      const box* b) {
  const fdtd* f = &slab->host;
  cells c = {.b = *b,
             .rows = f->rows,
             .end = PAD_X + f->size[0],
             .row = f->row,
             .plane = f->plane,
             .courant = f->courant,
             .p = a->p,
             .solid = f->solid,
             .kind = f->kind};
  c.b.z0 = larger(b->z0, slab->z0), c.b.z1 = smaller(b->z1, slab->z1);
  for (int d = 0; d < 3; d++) c.u[d] = a->u[d], c.keep[d] = keep[d], c.add[d] = add[d];
  return c;
}

static bool is_empty(const box* b) { return b->z0 >= b->z1 || b->y0 >= b->y1 || b->x0 >= b->x1; }

static int blocks_of(int count) { return (count + THREADS - 1) / THREADS; }

/* The boxes in the order of update.c. */
static int start_boxes(const cuda_kernels* here, int kernel, const slab_of_rank* slab, const fields* a,
                       double* const keep[3], double* const add[3], void* stream) {
  const fdtd* f = &slab->host;
  int error = 0;
  for (int b = 0; error == 0 && b <= FACES; b++) {
    if (b < FACES && f->layers[b] == 0) continue;
    cells c = cells_of(slab, a, keep, add, b < FACES ? &f->layer[b] : &f->inner);
    if (b < FACES) c.layer = split_of(f, a, b);
    if (is_empty(&c.b)) continue;
    const int blocks[] = {blocks_of(c.b.x1 - c.b.x0), c.b.y1 - c.b.y0, c.b.z1 - c.b.z0};
    void* parameters[] = {&c};
    error = cuda_start(&program, here, kernel, blocks, THREADS, stream, parameters);
  }
  return error;
}

static int u_on_cuda(void* const* data, const void* argument, void* stream) {
  slab_of_rank* const slab = ((const kernel_argument*)argument)->slab;
  const cuda_kernels* here = NULL;
  const int error = cuda_kernels_here(&program, &here);
  if (error != 0) return error;
  const fields a = take_u(slab, data);
  return start_boxes(here, KERNEL_U, slab, &a, slab->host.keep_u, slab->host.add_u, stream);
}

/* fdtd_sound of record.c */
static int start_sound(const cuda_kernels* here, const slab_of_rank* slab, const fields* a, int step, void* stream) {
  const fdtd* f = &slab->host;
  int error = 0;
  all_layers layers;
  for (int b = 0; b < FACES; b++) layers.of[b] = split_of(f, a, b);
  for (int i = 0; error == 0 && i < f->source_count; i++) {
    cells c = cells_of(slab, a, f->keep_p, f->add_p, &f->sources[i].cells);
    const int blocks[] = {blocks_of(c.b.y1 - c.b.y0), c.b.z1 - c.b.z0, 1};
    void* parameters[] = {&c, &layers, &f->wave[step - 1]};
    if (!is_empty(&c.b)) error = cuda_start(&program, here, KERNEL_SOURCE, blocks, THREADS, stream, parameters);
  }
  ptrdiff_t next = (ptrdiff_t)f->probe_count * f->steps;
  for (int i = 0; error == 0 && i < f->probe_count; i++) {
    cells c = cells_of(slab, a, f->keep_p, f->add_p, &f->probes[i].cells);
    double* record = f->record + (ptrdiff_t)i * f->steps + step - 1 - f->first * next;
    const int blocks[] = {blocks_of(c.b.z1 - c.b.z0), 1, 1};
    void* parameters[] = {&c, &record, &next};
    if (!is_empty(&c.b)) error = cuda_start(&program, here, KERNEL_PROBE, blocks, THREADS, stream, parameters);
  }
  return error;
}

static int p_on_cuda(void* const* data, const void* argument, void* stream) {
  const kernel_argument* const given = argument;
  slab_of_rank* const slab = given->slab;
  const cuda_kernels* here = NULL;
  int error = cuda_kernels_here(&program, &here);
  if (error != 0) return error;
  const fields a = take_p(slab, data);
  error = start_boxes(here, KERNEL_P, slab, &a, slab->host.keep_p, slab->host.add_p, stream);
  return error != 0 ? error : start_sound(here, slab, &a, given->step, stream);
}

const hiroba_kernel fdtd_u_kernel = {"u", u_on_host, u_on_cuda}, fdtd_p_kernel = {"p", p_on_host, p_on_cuda};
#endif
