// Starts the ranks: finds the program, sets its environment, forks. A rank inherits only the job's memory files; the
// kernel kills it when the launcher ends in any way.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/job.hpp"
#include "launcher/command_line.hpp"
#include "launcher/machine.hpp"
#include "launcher/signals.hpp"

namespace hiroba {

struct Rank {
  pid_t pid;
  int output, error;  // read ends of its stdout and stderr, non-blocking
};

// The reason why a program cannot be started, and the shells' exit status for it: 127 not found, 126 not executable.
struct Refusal {
  Status why;
  int exit_status = 0;
};

// prefer_here() returns the file in this folder for a program named without a folder, if it may be executed; else the
// name. files_named() returns the files that the name may mean: itself if it has a slash, else one in each folder of
// PATH. check_program() checks that one of these can be executed, and path_of() returns it, or the name if there is
// none. names_library() returns true if such a file contains the library's name, as that of one that it is linked with.
std::string prefer_here(const std::string& program);
std::vector<std::string> files_named(const std::string& program);
Refusal check_program(const std::string& program);
std::string path_of(const std::string& program);
bool names_library(const std::string& path, const std::string& library);

// Sets the runtime options and the OpenMP settings in this process's environment, which the ranks inherit, and checks
// every HIROBA_ variable.
Status set_environment(const Launch& launch, const Machine& machine);

// Forks all ranks and waits until each has executed the program. If one cannot, all are ended. `places`: those of each
// rank.
Refusal start_ranks(const Launch& launch, const Job& job, const std::vector<RankPlaces>& places, const Signals& signals,
                    std::vector<Rank>& out);

}  // namespace hiroba
