/* They run for stand-ins of devices of NVIDIA, too, whose memory is the processor's (cuda_standin.c). */
#include "device_kernels.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static int scale(void* const* data, const void* argument, void* stream) {
  const Factor* a = argument;
  double* x = data[0];
  (void)stream;
  for (int64_t i = 0; i < a->count; ++i) x[i] *= a->factor;
  return 0;
}

static int add(void* const* data, const void* argument, void* stream) {
  const Factor* a = argument;
  const double* x = data[0];
  double* y = data[1];
  (void)stream;
  for (int64_t i = 0; i < a->count; ++i) y[i] = x[i] + a->factor;
  return 0;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static int spin(void* const* data, const void* argument, void* stream) {
  const Factor* a = argument;
  (void)stream;
  for (const double begin = now(); now() - begin < a->factor;) continue;
  *(double*)data[0] = 1;
  return 0;
}

static int wild(void* const* data, const void* argument, void* stream) {
  (void)data, (void)argument, (void)stream;
  return 700;
}

const hiroba_kernel scale_kernel = {"scale", scale, scale}, add_kernel = {"add", add, add},
                    spin_kernel = {"spin", spin, spin}, wild_kernel = {"wild", wild, wild};

double copy_time(size_t bytes, int to_device) {
  static char *a = NULL, *b = NULL;
  static size_t room = 0;
  if (room < bytes) {
    free(a), free(b);
    a = malloc(bytes), b = malloc(bytes), room = bytes;
    memset(a, 1, bytes), memset(b, 2, bytes);
  }
  const double begin = now();
  memcpy(to_device ? a : b, to_device ? b : a, bytes);
  return now() - begin;
}
