// The checked words after `hirobarun`. The first word that is not an option, and all after it, belong to the program
// and are not read. Called once, at start, by the only thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launcher/binding.hpp"

namespace hiroba {

struct Setting {
  std::string variable, value;  // an environment variable for the ranks
};

struct Host {
  std::string name;
  int ranks;
};

struct Launch {
  int ranks = 0;            // 0: mpirun or srun has started us as one of its processes
  std::vector<Host> hosts;  // empty: this machine
  std::string mpi;          // the MPI whose mpirun starts ranks on hosts; "": the MPI that suits the program
  int nodes = 1;
  int threads = 0;  // OpenMP threads per rank; 0: not given
  Binding bind;
  bool report_bindings = false;
  bool tag = false;
  double grace = 30;                 // seconds from a signal that asks the job to end to SIGKILL
  double still = 30;                 // seconds after which a job that does not advance is reported; 0: never
  std::vector<Setting> settings;     // runtime options given on the command line
  std::vector<std::string> program;  // and its arguments
};

// Returns nothing if `out` is complete and valid. Returns the exit status if it has printed the help or an error.
std::optional<int> parse_command_line(int argc, char** argv, Launch& out);

// Prints the reason why the launcher ends, and returns the exit status.
int refuse(const Status& why, int exit_status);

}  // namespace hiroba
