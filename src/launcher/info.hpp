// The text of `hiroba info`: version, machine, features of the kernel, transports, options. Reads only.
#pragma once

#include <string>

#include "base/status.hpp"

namespace hiroba {

// Returns the complete text. `why_bad` becomes the error in a HIROBA_ variable, or "".
std::string describe_installation(std::string& why_bad);

// Returns the NUMA domains of this machine, for `hiroba info --memory`.
std::string describe_domains();
// Writes where the pages of shared arrays lie that this process, a rank of a running job, has mapped.
Status describe_memory_of(const std::string& process, std::string& out);

}  // namespace hiroba
