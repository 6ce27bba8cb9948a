// Reductions of tasks in a team of all ranks. libgomp keeps them for the threads of a rank, by their numbers there;
// GCC's code adds up one part for each thread of the team.
#pragma once

#include <cstdint>

namespace hiroba::openmp {

// Begins the reductions of a loop or of sections; all threads of the team call it, each with its own data, as
// GOMP_taskgroup_reduction_register has them.
void begin_reductions(uintptr_t* data);

}  // namespace hiroba::openmp
