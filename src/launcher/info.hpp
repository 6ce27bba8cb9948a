// The text of `hiroba info`: version, machine, features of the kernel, transports, options. Reads only.
#pragma once

#include <string>

namespace hiroba {

// All of it, for people. `why_bad` becomes the error in a HIROBA_ variable, or "".
std::string describe_installation(std::string& why_bad);

}  // namespace hiroba
