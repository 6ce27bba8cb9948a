// Which other launcher has started this process, by what it leaves in the environment.
#pragma once

#include <string>

namespace hiroba {

// "openmpi" or "mpich": whose messages the processes of this launch can use; "" if no such launcher started us.
std::string launching_mpi();

// The number that it has given to this process; 0 if it is alone, or if nobody says.
int launched_number();

}  // namespace hiroba
