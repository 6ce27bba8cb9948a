// Which other launcher has started this process, by what it leaves in the environment.
#pragma once

#include <string>

namespace hiroba {

// "openmpi" or "mpich": whose messages the processes of this launch can use; "" if no such launcher started us.
std::string launching_mpi();

}  // namespace hiroba
