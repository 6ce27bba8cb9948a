#include "launcher/processes.hpp"

#include <dirent.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <map>

#include "base/machine/proc.hpp"
#include "base/tables/launchers.hpp"

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

// Returns true for what MPIs execute between hirobarun and the program, and for our agents there.
bool is_of_launchers(const std::string& name) {
  for (const Mpi& mpi : mpis)
    if (name == mpi.launcher[0] || name == mpi.launcher[1]) return true;
  return name == "orted" || name == "hydra_pmi_proxy" || name == "guard" || name == "reach";
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

// Below `reach` there is only ssh, and above the first launcher only shells.
bool signal_launched(int signal) {
  const std::map<pid_t, ProcessFacts> all = all_processes();
  const pid_t self = getpid();
  bool any = false;
  for (const auto& [pid, facts] : all) {
    const bool agent = facts.name == "reach";
    if (pid == self || facts.has_ended() || (is_of_launchers(facts.name) && !agent)) continue;
    bool launched = false, beyond = false;
    pid_t ancestor = facts.parent;
    for (; ancestor != self && all.contains(ancestor); ancestor = all.at(ancestor).parent) {
      beyond = beyond || all.at(ancestor).name == "reach";
      launched = launched || is_of_launchers(all.at(ancestor).name);
    }
    if (ancestor != self || !launched || beyond) continue;
    any |= (agent ? sigqueue(pid, SIGUSR1, {.sival_int = signal}) : kill(pid, signal)) == 0;
  }
  return any;
}

MemoryState memory_state() {
  MemoryState state;
  state.total = number_after("MemTotal:", "/proc/meminfo").value_or(0) * 1024;
  state.available = number_after("MemAvailable:", "/proc/meminfo").value_or(0) * 1024;
  state.oom_kills = number_after("oom_kill", "/proc/vmstat").value_or(0);
  return state;
}

}  // namespace hiroba
