#include "linear/threads.hpp"

#include <dlfcn.h>

#include "base/log.hpp"
#include "base/thread.hpp"

namespace hiroba {

namespace {

// The function that compilers call for `#pragma omp parallel`: GCC's runtime has it, and LLVM's for programs of GCC.
struct OpenMp {
  void (*parallel)(void (*function)(void*), void* context, unsigned threads, unsigned flags) = nullptr;
  int (*thread)() = nullptr;
  int (*threads)() = nullptr;

  OpenMp() {
    constexpr const char* name = "libgomp.so.1";
    void* library = RTLD_DEFAULT;
    if (dlsym(library, "GOMP_parallel") == nullptr) library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr && dlsym(RTLD_DEFAULT, "GOMP_parallel") == nullptr)
      end_job(1,
              "BLAS with OMP_NUM_THREADS=%d needs an OpenMP runtime, and %s cannot be loaded (%s); install it, or set "
              "OMP_NUM_THREADS=1",
              threads_per_rank(), name, dlerror());
    parallel = reinterpret_cast<decltype(parallel)>(dlsym(library, "GOMP_parallel"));
    thread = reinterpret_cast<decltype(thread)>(dlsym(library, "omp_get_thread_num"));
    threads = reinterpret_cast<decltype(threads)>(dlsym(library, "omp_get_num_threads"));
  }
};

const OpenMp& openmp() {
  static const OpenMp the_runtime;
  return the_runtime;
}

struct Loop {
  int parts;
  void (*function)(void*, int);
  void* context;
};

// A team may be smaller than requested: inside a parallel region of the program, for example.
void take_parts(void* self) {
  const Loop& loop = *static_cast<Loop*>(self);
  const int threads = openmp().threads();
  for (int part = openmp().thread(); part < loop.parts; part += threads) loop.function(loop.context, part);
}

}  // namespace

int blas_threads() {
  static const int threads = threads_per_rank();
  return threads;
}

void run_parts(int parts, void (*function)(void* context, int part), void* context) {
  Loop loop = {parts, function, context};
  openmp().parallel(take_parts, &loop, static_cast<unsigned>(parts), 0);
}

}  // namespace hiroba
