/* Stands in for the driver of NVIDIA where there is none: a libcuda.so.1 whose devices have the processor's memory and
 * do everything at once. So it shows whether the calls of the backend cuda are right, but not whether they are in
 * order. CUDA_STANDIN_VERSION: of the driver; CUDA_STANDIN_DEVICES: their number; CUDA_STANDIN_MEMORY: bytes that are
 * free on each; CUDA_STANDIN_KERNELS: a library that has the kernels of a module (cuda_standin_kernels.hpp);
 * CUDA_STANDIN_LOST: copies to a device after which it is lost. Devices 0 and 1 have a link. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL __attribute__((visibility("default"))) int
typedef unsigned long long Pointer;

static long long setting(const char* name, long long fallback) {
  const char* const text = getenv(name);
  return text == NULL ? fallback : atoll(text);
}

enum { OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID = 1, CONTEXT = 201, NO_LINK = 217, LINKED = 704, UNKNOWN = 999 };
static long long used, copies;
static int lost(void) {
  const long long limit = setting("CUDA_STANDIN_LOST", -1);
  return limit >= 0 && __atomic_load_n(&copies, __ATOMIC_SEQ_CST) > limit;
}
static __thread void* stack[8] = {NULL};
static __thread int depth;

CALL cuInit(unsigned flags) { return flags != 0 ? INVALID : setting("CUDA_STANDIN_DEVICES", 1) == 0 ? NO_DEVICE : 0; }
CALL cuDriverGetVersion(int* version) { return *version = (int)setting("CUDA_STANDIN_VERSION", 13000), 0; }
CALL cuDeviceGetCount(int* count) { return *count = (int)setting("CUDA_STANDIN_DEVICES", 1), 0; }
CALL cuDeviceGet(int* device, int number) { return *device = number, 0; }
CALL cuDeviceGetName(char* name, int size, int device) {
  return snprintf(name, (size_t)size, "Stand-in %d", device), 0;
}
CALL cuDeviceTotalMem_v2(size_t* bytes, int device) {
  return (void)device, *bytes = (size_t)setting("CUDA_STANDIN_MEMORY", 1 << 30), 0;
}
CALL cuDeviceGetAttribute(int* value, int which, int device) { return (void)which, *value = device, 0; }
CALL cuDevicePrimaryCtxRetain(void** context, int device) { return *context = stack + device, 0; }
CALL cuDevicePrimaryCtxRelease_v2(int device) { return (void)device, 0; }
CALL cuCtxSetCurrent(void* context) { return stack[depth] = context, 0; }
CALL cuCtxPushCurrent_v2(void* context) { return stack[++depth] = context, 0; }
CALL cuCtxPopCurrent_v2(void** context) { return *context = stack[depth--], 0; }

static int linked[2]; /* with the other one of both */
CALL cuDeviceCanAccessPeer(int* can, int device, int other) { return *can = device + other == 1, 0; }
CALL cuCtxEnablePeerAccess(void* other, unsigned flags) {
  const long here = (void**)stack[depth] - stack, there = (void**)other - stack;
  if (here + there != 1 || flags != 0) return NO_LINK;
  return __atomic_exchange_n(&linked[here], 1, __ATOMIC_SEQ_CST) ? LINKED : 0;
}

/* Each allocation begins with its size. */
static int allocate(Pointer* at, size_t bytes) {
  if (stack[depth] == NULL) return CONTEXT;
  if (__atomic_load_n(&used, __ATOMIC_SEQ_CST) + (long long)bytes > setting("CUDA_STANDIN_MEMORY", 1 << 30))
    return OUT_OF_MEMORY;
  size_t* const memory = malloc(bytes + 64);
  if (memory == NULL) return OUT_OF_MEMORY;
  *memory = bytes, *at = (Pointer)(uintptr_t)memory + 64;
  __atomic_add_fetch(&used, (long long)bytes, __ATOMIC_SEQ_CST);
  return 0;
}
CALL cuMemAlloc_v2(Pointer* at, size_t bytes) { return allocate(at, bytes); }
CALL cuMemFree_v2(Pointer at) {
  size_t* const memory = (void*)(uintptr_t)(at - 64);
  __atomic_sub_fetch(&used, (long long)*memory, __ATOMIC_SEQ_CST);
  return free(memory), stack[depth] == NULL ? CONTEXT : 0;
}
CALL cuMemHostAlloc(void** at, size_t bytes, unsigned flags) {
  return (void)flags, *at = malloc(bytes), stack[depth] == NULL ? CONTEXT : 0;
}
CALL cuMemFreeHost(void* at) { return free(at), 0; }
CALL cuMemHostRegister_v2(void* at, size_t bytes, unsigned flags) {
  return (void)flags, (uintptr_t)at % 4096 != 0 || bytes % 4096 != 0 ? INVALID : stack[depth] == NULL ? CONTEXT : 0;
}
CALL cuMemHostUnregister(void* at) { return at == NULL ? INVALID : stack[depth] == NULL ? CONTEXT : 0; }

CALL cuStreamCreate(void** stream, unsigned flags) {
  return (void)flags, *stream = malloc(1), stack[depth] == NULL ? CONTEXT : 0;
}
CALL cuStreamDestroy_v2(void* stream) { return free(stream), 0; }
CALL cuMemcpyHtoDAsync_v2(Pointer to, const void* from, size_t bytes, void* stream) {
  __atomic_add_fetch(&copies, 1, __ATOMIC_SEQ_CST);
  if (lost()) return UNKNOWN;
  return (void)stream, memcpy((void*)(uintptr_t)to, from, bytes), stack[depth] == NULL ? CONTEXT : 0;
}
CALL cuMemcpyDtoHAsync_v2(void* to, Pointer from, size_t bytes, void* stream) {
  return (void)stream, memcpy(to, (const void*)(uintptr_t)from, bytes), stack[depth] == NULL ? CONTEXT : 0;
}
CALL cuMemcpyPeerAsync(Pointer to, void* here, Pointer from, void* there, size_t bytes, void* stream) {
  const long one = (void**)here - stack, other = (void**)there - stack;
  if (one != other && one + other == 1 && !linked[one]) return INVALID; /* it would not use the link */
  return (void)stream, memcpy((void*)(uintptr_t)to, (void*)(uintptr_t)from, bytes), here && there ? 0 : CONTEXT;
}
/* CUDA_MEMCPY2D of cuda.h */
typedef struct {
  size_t from_x, from_y;
  int from_type;
  const void* from_host;
  Pointer from_device;
  void* from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  int to_type;
  void* to_host;
  Pointer to_device;
  void* to_array;
  size_t to_pitch;
  size_t width, height;
} Copy2D;
CALL cuMemcpy2DAsync_v2(const Copy2D* c, void* stream) {
  const char* const from = c->from_type == 1 ? c->from_host : (const void*)(uintptr_t)c->from_device;
  char* const to = c->to_type == 1 ? c->to_host : (void*)(uintptr_t)c->to_device;
  if (c->from_pitch < c->width || c->to_pitch < c->width) return INVALID;
  for (size_t i = 0; i < c->height; ++i) memcpy(to + i * c->to_pitch, from + i * c->from_pitch, c->width);
  return (void)stream, stack[depth] == NULL ? CONTEXT : 0;
}

CALL cuEventCreate(void** event, unsigned flags) { return (void)flags, *event = malloc(1), stack[depth] ? 0 : CONTEXT; }
CALL cuEventDestroy_v2(void* event) { return free(event), 0; }
CALL cuEventRecord(void* event, void* stream) { return (void)event, (void)stream, 0; }
CALL cuEventQuery(void* event) { return (void)event, lost() ? UNKNOWN : 0; }
CALL cuStreamWaitEvent(void* stream, void* event, unsigned flags) { return (void)stream, (void)event, (void)flags, 0; }
CALL cuCtxGetCurrent(void** context) { return *context = stack[depth], 0; }
CALL cuCtxGetDevice(int* device) { return *device = 0, stack[depth] == NULL ? CONTEXT : 0; }
CALL cuModuleLoadData(void** module, const void* image) {
  const char* const path = getenv("CUDA_STANDIN_KERNELS");
  *module = path == NULL || image == NULL ? NULL : dlopen(path, RTLD_NOW);
  return stack[depth] == NULL ? CONTEXT : *module == NULL ? INVALID : 0;
}
CALL cuModuleGetFunction(void** function, void* module, const char* name) {
  char symbol[100];
  snprintf(symbol, sizeof symbol, "standin_%s", name);
  return (*function = dlsym(module, symbol)) == NULL ? INVALID : 0;
}
CALL cuFuncSetAttribute(void* function, int which, int value) {
  return (void)which, (void)value, function == NULL ? INVALID : 0;
}
CALL cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned threads_y,
                    unsigned threads_z, unsigned shared, void* stream, void** parameters, void** extra) {
  if (x * y * z * threads == 0 || threads_y != 1 || threads_z != 1 || shared != 0 || stream == NULL || extra != NULL)
    return INVALID;
  void (*kernel)(const unsigned*, unsigned, unsigned, void**) = NULL;
  *(void**)&kernel = function;
  for (unsigned k = 0; k < z; ++k)
    for (unsigned j = 0; j < y; ++j)
      for (unsigned i = 0; i < x; ++i)
        for (unsigned t = 0; t < threads; ++t) kernel((const unsigned[]){i, j, k}, t, threads, parameters);
  return stack[depth] == NULL ? CONTEXT : 0;
}

CALL cuGetErrorString(int error, const char** text) {
  return *text = error == 700       ? "an illegal memory access was encountered"
                 : error == UNKNOWN ? "unknown error"
                                    : "a stand-in's error",
         0;
}
