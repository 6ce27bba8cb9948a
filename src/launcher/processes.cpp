#include "launcher/processes.hpp"

#include <dirent.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <map>

#include "base/machine/proc.hpp"

namespace hiroba {

namespace {

std::map<pid_t, ProcessFacts> all_processes() {
  std::map<pid_t, ProcessFacts> all;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return all;
  while (const dirent* file = readdir(folder)) {
    const pid_t pid = std::atoi(file->d_name);
    if (const ProcessFacts facts = process_facts(pid); pid > 0 && !facts.name.empty()) all[pid] = facts;
  }
  closedir(folder);
  return all;
}

}  // namespace

std::vector<Process> descendants() {
  const std::map<pid_t, ProcessFacts> all = all_processes();
  const pid_t self = getpid();
  std::vector<Process> out;
  for (const auto& [pid, facts] : all) {
    pid_t ancestor = pid;
    while (ancestor != self && all.contains(ancestor)) ancestor = all.at(ancestor).parent;
    if (ancestor == self && pid != self && !facts.has_ended()) out.push_back({pid, facts.name});
  }
  return out;
}

void signal_descendants(int signal) {
  for (const Process& process : descendants()) kill(process.pid, signal);
}

MemoryState memory_state() {
  MemoryState state;
  state.total = number_after("MemTotal:", "/proc/meminfo").value_or(0) * 1024;
  state.available = number_after("MemAvailable:", "/proc/meminfo").value_or(0) * 1024;
  state.oom_kills = number_after("oom_kill", "/proc/vmstat").value_or(0);
  return state;
}

}  // namespace hiroba
