// Which other launcher has started this process, by what it leaves in the environment.
#pragma once

#include <string>

namespace hiroba {

// "openmpi" or "mpich": whose messages the processes of this launch can use; "" if no such launcher started us.
std::string launching_mpi();

// The number that it has given to this process; 0 if it is alone, or if nobody says.
int launched_number();

// What Hydra, MPICH's launcher, has to be told (PMI-1) about a process that ends badly; "%d" is the exit status.
constexpr char hydra_abort[] = "cmd=abort exitcode=%d\n";

}  // namespace hiroba
