// Starting ranks through somebody else's launcher: on several hosts through mpirun, which knows how to reach them; and
// as what mpirun or srun has started already.
#pragma once

#include "launcher/command_line.hpp"
#include "launcher/ranks.hpp"

namespace hiroba {

// Whether this launch is mpirun's to carry out.
bool needs_mpirun(const Launch& launch);

// Becomes mpirun. Returns only if that fails.
Refusal become_mpirun(const Launch& launch);

// We are one of the processes that mpirun or srun has started: becomes the program. Returns only if that fails.
Refusal become_program(const Launch& launch);

}  // namespace hiroba
