// The launcher's process that has started this rank on this host: Open MPI's orted, MPICH's proxy.
#pragma once

#include <sys/types.h>

#include <string>

namespace hiroba {

struct Daemon {
  pid_t pid = 0;  // 0: none
  std::string name;
};

// Returns the nearest ancestor of this process that is a daemon.
Daemon find_daemon();

// Ends the daemon and the processes that it has started, by a signal that its kind handles.
void end_daemon(const Daemon& daemon);

}  // namespace hiroba
