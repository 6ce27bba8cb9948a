// Starting ranks through somebody else's launcher: on several hosts through mpirun, which knows how to reach them; and
// as what mpirun or srun has started already.
#pragma once

#include "launcher/command_line.hpp"
#include "launcher/ranks.hpp"

namespace hiroba {

// A program that calls MPI itself must be started by that MPI, or it sees a world of one rank in each: chooses the
// transport that is. Refuses where another transport was asked for.
Refusal start_with_mpi(const Launch& launch);

// Whether this launch is mpirun's to carry out.
bool needs_mpirun(const Launch& launch);

// Becomes mpirun. Returns only if that fails.
Refusal become_mpirun(const Launch& launch);

// We are one of the processes that mpirun or srun has started: becomes the program. Returns only if that fails.
Refusal become_program(const Launch& launch);

}  // namespace hiroba
