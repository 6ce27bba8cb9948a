#include "cuda_kernels.h"

#include <dlfcn.h>
#include <stddef.h>

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

static result load(const cuda_program* program, cuda_kernels* out, void* context) {
  void* module = NULL;
  int device = 0;
  out->context = context;
  result error = driver.cuCtxGetDevice(&device);
  if (error == 0) error = driver.cuDeviceGetAttribute(&out->multiprocessors, MULTIPROCESSORS, device);
  if (error == 0) error = driver.cuModuleLoadData(&module, program->image);
  for (int i = 0; error == 0 && i < program->count; i++) {
    error = driver.cuModuleGetFunction(&out->kernels[i], module, program->names[i]);
    if (error == 0 && program->shared[i] > 0)
      error = driver.cuFuncSetAttribute(out->kernels[i], MOST_DYNAMIC_SHARED, program->shared[i]);
  }
  return error;
}

int cuda_kernels_here(cuda_program* program, const cuda_kernels** out) {
  void* context = NULL;
  pthread_mutex_lock(&program->lock);
  result error = program->devices == 0 ? find_calls() : 0;
  if (error == 0) error = driver.cuCtxGetCurrent(&context);
  int i = 0;
  while (i < program->devices && program->loaded[i].context != context) i++;
  if (error == 0 && i == program->devices) {
    error = i == CUDA_MOST_DEVICES ? OUT_OF_CONTEXTS : load(program, &program->loaded[i], context);
    if (error == 0) program->devices++;
  }
  pthread_mutex_unlock(&program->lock);
  *out = &program->loaded[i];
  return error;
}

int cuda_start(const cuda_program* program, const cuda_kernels* here, int kernel, const int blocks[3], int threads,
               void* stream, void** parameters) {
  return driver.cuLaunchKernel(here->kernels[kernel], (unsigned)blocks[0], (unsigned)blocks[1], (unsigned)blocks[2],
                               (unsigned)threads, 1, 1, (unsigned)program->shared[kernel], stream, parameters, NULL);
}
