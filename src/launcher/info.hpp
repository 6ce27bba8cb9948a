// The text of `hiroba info`: version, machine, what the kernel offers, transports, options. Reads only.
#pragma once

#include <string>

namespace hiroba {

// All of it, for people. `why_bad` becomes what is wrong with a HIROBA_ variable, or "".
std::string describe_installation(std::string& why_bad);

}  // namespace hiroba
