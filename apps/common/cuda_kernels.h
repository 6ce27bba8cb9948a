/* cuda_kernels.h: kernels for devices of NVIDIA that a program contains as a fatbin of nvcc, started by the driver that
 * device.h has loaded. The program needs no CUDA to be linked or to start.
 *
 * A cuda_program is a static object, which any thread may use; the errors are those of the driver (0: none). Nothing
 * blocks but the first use on a device, which loads the kernels there. */
#ifndef APPS_COMMON_CUDA_KERNELS_H
#define APPS_COMMON_CUDA_KERNELS_H

#include <pthread.h>

enum { CUDA_MOST_KERNELS = 8, CUDA_MOST_DEVICES = 64 };

/* Makes the file a part of the program: `extern const char name[]`. */
#define CUDA_FATBIN(name, file)                                                                                    \
  __asm__(".section .rodata\n.balign 64\n.type " #name ", @object\n" #name ":\n.incbin \"" file "\"\n.size " #name \
          ", .-" #name "\n.previous");                                                                             \
  extern const char name[] __attribute__((visibility("hidden")))

/* The kernels as one device has them, whose context is current. */
typedef struct cuda_kernels {
  void *context, *kernels[CUDA_MOST_KERNELS];
  int multiprocessors;
} cuda_kernels;

typedef struct cuda_program {
  const void* image;
  int count;
  const char* names[CUDA_MOST_KERNELS];
  int shared[CUDA_MOST_KERNELS]; /* bytes of shared memory of a block */
  pthread_mutex_t lock;          /* PTHREAD_MUTEX_INITIALIZER */
  cuda_kernels loaded[CUDA_MOST_DEVICES];
  int devices;
} cuda_program;

/* Finds, or loads, the kernels of the current context. */
int cuda_kernels_here(cuda_program* program, const cuda_kernels** out);

/* Starts kernel number `kernel` with x * y * z blocks of `threads` threads; parameters: the addresses of its arguments,
 * which are copied. */
int cuda_start(const cuda_program* program, const cuda_kernels* here, int kernel, const int blocks[3], int threads,
               void* stream, void** parameters);

#endif
