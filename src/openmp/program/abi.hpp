// The functions that this library replaces: those of libgomp and of the C library that the dynamic linker finds after
// it. libgomp runs the threads of a rank, their tasks, and every region that a single rank runs. Declared here are
// those that are called before they are replaced, or without, as GCC 12 has them.
#pragma once

#include <dlfcn.h>

#include <cstddef>

// Returns the replaced function of the same name and type.
#define HIROBA_REAL(name)                                                                  \
  [] {                                                                                     \
    static const auto next = reinterpret_cast<decltype(&::name)>(dlsym(RTLD_NEXT, #name)); \
    return next;                                                                           \
  }()

extern "C" {
using GompFunction = void (*)(void*);

void GOMP_parallel(GompFunction, void*, unsigned, unsigned);
void GOMP_barrier();
bool GOMP_barrier_cancel();
bool GOMP_cancel(int, bool);
bool GOMP_cancellation_point(int);
void GOMP_task(void (*)(void*), void*, void (*)(void*, void*), long, long, bool, unsigned, void**, int, void*);
void GOMP_taskwait();
void GOMP_taskgroup_start();
void GOMP_taskgroup_end();
void GOMP_target_ext(int, void (*)(void*), size_t, void**, size_t*, unsigned short*, unsigned, void**, void**);
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_max_threads();
int omp_get_level();
int omp_get_active_level();
int omp_get_thread_limit();
int omp_get_team_num();
int omp_get_num_teams();
int omp_get_cancellation();
int omp_get_dynamic();
int omp_get_max_active_levels();
int omp_get_default_device();
unsigned long omp_get_default_allocator();
void omp_set_default_allocator(unsigned long);
void omp_set_num_threads(int);
void omp_set_dynamic(int);
void omp_set_max_active_levels(int);
void omp_set_default_device(int);
void omp_get_schedule(unsigned*, int*);
void omp_set_schedule(unsigned, int);
size_t omp_get_affinity_format(char*, size_t);
void omp_set_affinity_format(const char*);
size_t omp_capture_affinity(char*, size_t, const char*);
void omp_display_affinity(const char*);
}

namespace hiroba::openmp {

// Returns the place of the function in a record: it begins in the line of its construct. As a return address it is that
// of the instruction after a call.
inline const void* code_of(GompFunction function) { return reinterpret_cast<const char*>(function) + 1; }

// GOMP_cancel() and GOMP_cancellation_point() name constructs so.
constexpr int cancels_parallel = 1, cancels_loop = 2, cancels_sections = 4, cancels_taskgroup = 8;

}  // namespace hiroba::openmp
