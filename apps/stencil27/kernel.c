/* The kernel of stencil27_device. On host devices block.c computes, on those of NVIDIA block.cu, which is compiled into
 * this program (BLOCK_FATBIN, where there is nvcc) and started by the driver that device.h has loaded. */
#include "kernel.h"

#include "../common/cuda_kernels.h"
#ifdef _OPENMP
#include <omp.h>
#endif

static int on_host(void* const* data, const void* argument, void* stream) {
  (void)stream;
  const kernel_argument* a = argument;
  const struct part* p = &a->part;
#ifdef _OPENMP
  omp_set_num_threads(a->host->job.threads); /* of this thread, which is the stream's */
#endif
  const double* const from = (const double*)data[0] - larger(p->z0 - a->steps, 0) * p->plane;
  advance(a->host, from, (double*)data[1] - p->z0 * p->plane, a->steps, p->z0, p->z1);
  return 0;
}

#ifndef BLOCK_FATBIN
const hiroba_kernel stencil27_kernel = {"stencil27", on_host, NULL};
#else
CUDA_FATBIN(stencil27_fatbin, BLOCK_FATBIN);

typedef struct shape {
  int width, height, threads;
} shape;
#define SHAPE(depth, rows, warps) {PART_WIDTH(depth), PART_HEIGHT(depth, rows, warps), PART_LANES * (warps)},
static const shape shapes[] = {STENCIL27_KERNELS(SHAPE)};
#define NAME(depth, rows, warps) "stencil27_" #depth,
#define SHARED(depth, rows, warps) PART_SHARED(depth, rows, warps),
static cuda_program program = {.image = stencil27_fatbin,
                               .count = STENCIL27_MOST_DEPTH,
                               .names = {STENCIL27_KERNELS(NAME)},
                               .shared = {STENCIL27_KERNELS(SHARED)},
                               .lock = PTHREAD_MUTEX_INITIALIZER};

static int on_cuda(void* const* data, const void* argument, void* stream) {
  const kernel_argument* a = argument;
  const cuda_kernels* here = NULL;
  const int error = cuda_kernels_here(&program, &here);
  if (error != 0) return error;
  struct part part = a->part;
  const shape* s = &shapes[a->steps - 1];
  const int x = (part.nx + s->width - 1) / s->width, y = (part.ny + s->height - 1) / s->height;
  part.chunk = part_chunk(&part, a->steps, x * y, part.chunk, here->multiprocessors);
  const double* from = (const double*)data[0] - larger(part.z0 - a->steps, 0) * part.plane;
  double* to = (double*)data[1] - part.z0 * part.plane;
  void* parameters[] = {&part, &from, &to};
  const int blocks[] = {x, y, (part.z1 - part.z0 + part.chunk - 1) / part.chunk};
  return cuda_start(&program, here, a->steps - 1, blocks, s->threads, stream, parameters);
}

const hiroba_kernel stencil27_kernel = {"stencil27", on_host, on_cuda};
#endif
