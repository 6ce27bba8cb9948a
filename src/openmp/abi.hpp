// The functions of GCC's OpenMP runtime that this library replaces and calls, as GCC 12 calls them.
#pragma once

#include <cstddef>

extern "C" {
using GompFunction = void (*)(void*);

void GOMP_parallel(GompFunction, void*, unsigned, unsigned);
unsigned GOMP_parallel_reductions(GompFunction, void*, unsigned, unsigned);
void GOMP_parallel_sections(GompFunction, void*, unsigned, unsigned, unsigned);
void GOMP_barrier();
bool GOMP_barrier_cancel();

int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_max_threads();
int omp_get_num_procs();
int omp_get_level();
int omp_get_active_level();
int omp_in_parallel();
int omp_get_team_size(int);
int omp_get_ancestor_thread_num(int);
int omp_get_thread_limit();
int omp_get_nested();
void omp_set_num_threads(int);
void omp_set_dynamic(int);
void omp_get_schedule(unsigned*, int*);
}
