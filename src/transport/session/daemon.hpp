// The launcher's process on this host that has started this rank: Open MPI's orted, MPICH's proxy.
#pragma once

#include <sys/types.h>

#include <string>

namespace hiroba {

struct Daemon {
  pid_t pid = 0;  // 0: there is none
  std::string name;
};

// The nearest of this process's ancestors that is one.
Daemon find_daemon();

// Ends it, and with it what it has started; each kind in the way that it understands.
void end_daemon(const Daemon& daemon);

}  // namespace hiroba
