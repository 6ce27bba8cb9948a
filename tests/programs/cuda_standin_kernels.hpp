// What kernels of CUDA need to be compiled for the processor, whose threads cuda_standin.c runs one after the other, so
// they must not wait for one another. A file that includes this, and then kernels, is a library of them. It names each
// with STANDIN_KERNEL.
#pragma once

#include <cstddef>
#include <utility>

#define __global__
#define __device__
#define __host__

struct StandinIndex {
  unsigned x, y, z;
};
static thread_local StandinIndex blockIdx, blockDim, threadIdx;

template <typename... Arguments, size_t... I>
void run_standin(void (*kernel)(Arguments...), void** parameters, std::index_sequence<I...>) {
  kernel(*static_cast<Arguments*>(parameters[I])...);
}
template <typename... Arguments>
void start_standin(void (*kernel)(Arguments...), const unsigned* block, unsigned thread, unsigned threads,
                   void** parameters) {
  blockIdx = {block[0], block[1], block[2]}, threadIdx = {thread, 0, 0}, blockDim = {threads, 1, 1};
  run_standin(kernel, parameters, std::index_sequence_for<Arguments...>());
}

#define STANDIN_KERNEL(name)                                                                                    \
  extern "C" __attribute__((visibility("default"))) void standin_##name(const unsigned* block, unsigned thread, \
                                                                        unsigned threads, void** parameters) {  \
    start_standin(name, block, thread, threads, parameters);                                                    \
  }
