// Facts about processes and memory from /proc. No state.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace hiroba {

struct Process {
  pid_t pid;
  std::string name;
};

// Returns every process that descends from this one and has not ended. Orphans count, since the launcher is their
// reaper (PR_SET_CHILD_SUBREAPER).
std::vector<Process> descendants();

// Sends `signal` to all descendants.
void signal_descendants(int signal);

// Sends `signal` to the processes of the program that a launcher of MPI has started below this process, on this host
// and, by its agents `reach` (agents/reach.cpp), on others. Returns false if it has sent none.
bool signal_launched(int signal);

struct MemoryState {
  uint64_t total = 0, available = 0;  // bytes
  uint64_t oom_kills = 0;             // by the kernel since its boot
};

MemoryState memory_state();

}  // namespace hiroba
