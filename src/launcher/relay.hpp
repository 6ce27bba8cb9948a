// Starting ranks by another launcher: on several hosts by mpirun, which is configured for them; and as processes that
// mpirun or srun has already started.
#pragma once

#include "launcher/command_line.hpp"
#include "launcher/ranks.hpp"

namespace hiroba {

// A program that calls MPI itself must be started by that MPI; otherwise MPI_COMM_WORLD of each process has one rank.
// Chooses the transport that is started so; an error if another transport was requested.
Refusal start_with_mpi(const Launch& launch);

// Whether mpirun has to execute this launch.
bool needs_mpirun(const Launch& launch);

// Executes mpirun in this process. Returns only if that fails.
Refusal become_mpirun(const Launch& launch);

// In a process that mpirun or srun has started: executes the program. That launcher may have bound it; OpenMP's places
// follow. Returns only if that fails.
Refusal become_program(const Launch& launch, const Machine& machine);

}  // namespace hiroba
