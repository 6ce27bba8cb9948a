/* The kernel of stencil27_device. On host devices block.c computes, on those of NVIDIA block.cu, which is compiled into
 * this program (BLOCK_FATBIN, where there is nvcc) and started by the driver that device.h has loaded. */
#include "kernel.h"

#include <dlfcn.h>
#include <pthread.h>
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
/* The file is a part of the program. */
__asm__(".section .rodata\n.balign 64\n.type stencil27_fatbin, @object\nstencil27_fatbin:\n.incbin \"" BLOCK_FATBIN
        "\"\n.size stencil27_fatbin, .-stencil27_fatbin\n.previous");
extern const char stencil27_fatbin[] __attribute__((visibility("hidden")));

/* Calls of the driver, by the names and types of cuda.h. */
typedef int result;
static struct driver {
  result (*cuCtxGetCurrent)(void** context);
  result (*cuCtxGetDevice)(int* device);
  result (*cuDeviceGetAttribute)(int* value, int which, int device);
  result (*cuModuleLoadData)(void** module, const void* image);
  result (*cuModuleGetFunction)(void** function, void* module, const char* name);
  result (*cuFuncSetAttribute)(void* function, int which, int value);
  result (*cuLaunchKernel)(void* function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned threads_y,
                           unsigned threads_z, unsigned shared, void* stream, void** parameters, void** extra);
} driver;
enum { INITIALIZATION_ERROR = 3, OUT_OF_CONTEXTS = 201, MULTIPROCESSORS = 16, MOST_DYNAMIC_SHARED = 8 };

typedef struct shape {
  int width, height, threads, shared;
} shape;
#define SHAPE(depth, rows, warps) \
  {PART_WIDTH(depth), PART_HEIGHT(depth, rows, warps), PART_LANES * (warps), PART_SHARED(depth, rows, warps)},
static const shape shapes[] = {STENCIL27_KERNELS(SHAPE)};
#define NAME(depth, rows, warps) "stencil27_" #depth,
static const char* const names[] = {STENCIL27_KERNELS(NAME)};

/* The kernels as one device has them, whose context is current. */
typedef struct loaded {
  void *context, *kernels[STENCIL27_MOST_DEPTH];
  int multiprocessors;
} loaded;

static result find_calls(void) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == NULL) return INITIALIZATION_ERROR;
#define FIND(call) \
  if ((*(void**)& driver.call = dlsym(library, #call)) == NULL) return INITIALIZATION_ERROR
  FIND(cuCtxGetCurrent);
  FIND(cuCtxGetDevice);
  FIND(cuDeviceGetAttribute);
  FIND(cuModuleLoadData);
  FIND(cuModuleGetFunction);
  FIND(cuFuncSetAttribute);
  FIND(cuLaunchKernel);
#undef FIND
  return 0;
}

static result load(loaded* out, void* context) {
  void* module = NULL;
  int device = 0;
  out->context = context;
  result error = driver.cuCtxGetDevice(&device);
  if (error == 0) error = driver.cuDeviceGetAttribute(&out->multiprocessors, MULTIPROCESSORS, device);
  if (error == 0) error = driver.cuModuleLoadData(&module, stencil27_fatbin);
  for (int i = 0; error == 0 && i < STENCIL27_MOST_DEPTH; i++) {
    error = driver.cuModuleGetFunction(&out->kernels[i], module, names[i]);
    if (error == 0) error = driver.cuFuncSetAttribute(out->kernels[i], MOST_DYNAMIC_SHARED, shapes[i].shared);
  }
  return error;
}

/* Finds, or loads, the kernels of the current context. */
static result kernels_here(const loaded** out) {
  enum { MOST_DEVICES = 64 };
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static loaded all[MOST_DEVICES];
  static int count;
  void* context = NULL;
  pthread_mutex_lock(&lock);
  result error = count == 0 ? find_calls() : 0;
  if (error == 0) error = driver.cuCtxGetCurrent(&context);
  int i = 0;
  while (i < count && all[i].context != context) i++;
  if (error == 0 && i == count) {
    error = count == MOST_DEVICES ? OUT_OF_CONTEXTS : load(&all[i], context);
    if (error == 0) count++;
  }
  pthread_mutex_unlock(&lock);
  *out = &all[i];
  return error;
}

static int on_cuda(void* const* data, const void* argument, void* stream) {
  const kernel_argument* a = argument;
  const loaded* here = NULL;
  const result error = kernels_here(&here);
  if (error != 0) return error;
  struct part part = a->part;
  const shape* s = &shapes[a->steps - 1];
  const int x = (part.nx + s->width - 1) / s->width, y = (part.ny + s->height - 1) / s->height;
  part.chunk = part_chunk(&part, a->steps, x * y, part.chunk, here->multiprocessors);
  const double* from = (const double*)data[0] - larger(part.z0 - a->steps, 0) * part.plane;
  double* to = (double*)data[1] - part.z0 * part.plane;
  void* parameters[] = {&part, &from, &to};
  return driver.cuLaunchKernel(here->kernels[a->steps - 1], (unsigned)x, (unsigned)y,
                               (unsigned)((part.z1 - part.z0 + part.chunk - 1) / part.chunk), (unsigned)s->threads, 1,
                               1, (unsigned)s->shared, stream, parameters, NULL);
}

const hiroba_kernel stencil27_kernel = {"stencil27", on_host, on_cuda};
#endif
