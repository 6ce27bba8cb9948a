// The functions of GCC's OpenMP runtime that this library calls before it replaces them, or without, as GCC 12 has
// them.
#pragma once

extern "C" {
using GompFunction = void (*)(void*);

void GOMP_parallel(GompFunction, void*, unsigned, unsigned);
void GOMP_barrier();
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_max_threads();
int omp_get_level();
void omp_set_dynamic(int);
void omp_get_schedule(unsigned*, int*);
}
