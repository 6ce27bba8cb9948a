// Finds the Python programs that come with Hiroba, in share/hiroba of the installation.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"

namespace hiroba {

// Sets `out` to the command for the program `name`, to which its words are added.
Status python_program(const std::string& name, std::vector<std::string>& out);

}  // namespace hiroba
