#include "transport/session/daemon.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>

#include "base/status.hpp"

namespace hiroba {

namespace {

struct Process {
  std::string name;
  pid_t parent = 0;
};

// Returns an empty name if there is no such process.
Process look_up(pid_t pid) {
  char text[128] = "", name[32] = "";
  Process found;
  const int fd = open(format("/proc/%d/stat", pid).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return found;
  if (read(fd, text, sizeof text - 1) > 0 && std::sscanf(text, "%*d (%31[^)]) %*c %d", name, &found.parent) == 2)
    found.name = name;
  close(fd);
  return found;
}

}  // namespace

Daemon find_daemon() {
  for (pid_t pid = getppid(); pid > 1;) {  // skips shells, and guard (src/launcher/agents/guard.cpp)
    const Process process = look_up(pid);
    if (process.name == "orted" || process.name == "hydra_pmi_proxy") return {pid, process.name};
    pid = process.parent;
  }
  return {};
}

void end_daemon(const Daemon& daemon) {
  if (daemon.pid != 0) kill(daemon.pid, daemon.name == "orted" ? SIGTERM : SIGKILL);
}

}  // namespace hiroba
