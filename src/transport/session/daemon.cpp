#include "transport/session/daemon.hpp"

#include <signal.h>
#include <unistd.h>

#include "base/machine/proc.hpp"

namespace hiroba {

Daemon find_daemon() {
  for (pid_t pid = getppid(); pid > 1;) {  // skips shells, and guard (src/launcher/agents/guard.cpp)
    const ProcessFacts process = process_facts(pid);
    if (process.name == "orted" || process.name == "hydra_pmi_proxy") return {pid, process.name};
    pid = process.parent;
  }
  return {};
}

void end_daemon(const Daemon& daemon) {
  if (daemon.pid != 0) kill(daemon.pid, daemon.name == "orted" ? SIGTERM : SIGKILL);
}

}  // namespace hiroba
