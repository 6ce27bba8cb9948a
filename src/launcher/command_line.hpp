// What the user typed after `hirobarun`, checked. Everything from the first word that is not an option belongs to the
// program and is not looked at. Called once, at start, by the only thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/machine.hpp"

namespace hiroba {

struct Setting {
  std::string variable, value;  // an environment variable for the ranks
};

struct Launch {
  int ranks = 0;
  int nodes = 1;
  int threads = 0;  // OpenMP threads per rank; 0: not given
  Bind bind = Bind::none;
  bool tag = false;
  std::vector<Setting> settings;     // runtime options given on the command line
  std::vector<std::string> program;  // and its arguments
};

// Nothing: `out` is complete and makes sense, go on. A number: the exit status to end with; the help or what is wrong
// has been printed.
std::optional<int> parse_command_line(int argc, char** argv, Launch& out);

}  // namespace hiroba
