// Starts ranks by another launcher: on several hosts by mpirun, which is configured for them; and in processes that
// mpirun or srun has already started.
#pragma once

#include <string>

#include "launcher/command_line.hpp"
#include "launcher/ranks.hpp"

namespace hiroba {

// Chooses the transport for a program that calls MPI itself: that MPI must start it, or else MPI_COMM_WORLD of each
// process has one rank. Fails if another transport was requested.
Refusal start_with_mpi(const Launch& launch);

// Returns true if mpirun has to execute this launch.
bool needs_mpirun(const Launch& launch);

// Executes mpirun in this process, and ends with its status; `report` is the file of that option, or "". Returns only
// if that fails.
Refusal become_mpirun(const Launch& launch, const std::string& report);

// Executes the program in a process that mpirun or srun has started. That launcher may have bound it; OpenMP's places
// follow. Returns only if that fails.
Refusal become_program(const Launch& launch, const Machine& machine);

}  // namespace hiroba
