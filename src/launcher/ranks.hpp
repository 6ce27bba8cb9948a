// Starting the ranks: finding the program, setting up its environment, forking. A rank inherits only the job's memory
// files; the kernel kills it when the launcher ends, for whatever reason.
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

// Why a program cannot be started, and the exit status that shells give for it: 127 not found, 126 not executable.
struct Refusal {
  Status why;
  int exit_status = 0;
};

// Whether `program` (looked up in PATH if it has no slash) can be executed.
// A program named without a folder: the file in this folder, if there is one that may be executed; else as it is.
std::string prefer_here(const std::string& program);
Refusal check_program(const std::string& program);

// Sets the runtime options and the OpenMP settings in this process's environment, which the ranks inherit, and checks
// every HIROBA_ variable.
Status set_environment(const Launch& launch, const Machine& machine);

// Forks all ranks and waits until each has executed the program. If one cannot, all are ended. `places`: where each
// rank runs.
Refusal start_ranks(const Launch& launch, const Job& job, const std::vector<RankPlaces>& places, const Signals& signals,
                    std::vector<Rank>& out);

}  // namespace hiroba
