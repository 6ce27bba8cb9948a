// The text of `hiroba info`: version, machine, features of the kernel, transports, options. Reads only.
#pragma once

#include <string>

#include "base/status.hpp"

namespace hiroba {

// All of it, for people. `why_bad` becomes the error in a HIROBA_ variable, or "".
std::string describe_installation(std::string& why_bad);

// Of `hiroba info --memory`: the NUMA domains of this machine.
std::string describe_domains();
// And where pages of shared arrays lie that the process with this number, a rank of a running job, has mapped.
Status describe_memory_of(const std::string& process, std::string& out);

}  // namespace hiroba
