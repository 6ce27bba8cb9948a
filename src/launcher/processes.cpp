#include "launcher/processes.hpp"

#include <dirent.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

namespace hiroba {

namespace {

struct Entry {
  pid_t parent;
  std::string name;
  char state;
};

// /proc/PID/stat is "PID (NAME) STATE PARENT ..."; the name may hold anything, so it ends at the last ')'.
bool read_entry(const char* pid, Entry& out) {
  std::ifstream file(std::string("/proc/") + pid + "/stat");
  std::string text;
  if (!std::getline(file, text)) return false;
  const size_t open = text.find('('), close = text.rfind(')');
  if (close == std::string::npos || close + 4 > text.size()) return false;
  out = {std::atoi(text.c_str() + close + 4), text.substr(open + 1, close - open - 1), text[close + 2]};
  return true;
}

std::map<pid_t, Entry> all_processes() {
  std::map<pid_t, Entry> all;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return all;
  while (const dirent* file = readdir(folder)) {
    Entry entry;
    if (file->d_name[0] >= '1' && file->d_name[0] <= '9' && read_entry(file->d_name, entry))
      all[std::atoi(file->d_name)] = entry;
  }
  closedir(folder);
  return all;
}

}  // namespace

std::vector<Process> descendants() {
  const std::map<pid_t, Entry> all = all_processes();
  const pid_t self = getpid();
  std::vector<Process> out;
  for (const auto& [pid, entry] : all) {
    pid_t ancestor = pid;
    while (ancestor != self && all.contains(ancestor)) ancestor = all.at(ancestor).parent;
    const bool ended = entry.state == 'Z' || entry.state == 'X';
    if (ancestor == self && pid != self && !ended) out.push_back({pid, entry.name});
  }
  return out;
}

void signal_descendants(int signal) {
  for (const Process& process : descendants()) kill(process.pid, signal);
}

MemoryState memory_state() {
  MemoryState state;
  const auto find = [](const char* path, const std::string& key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string name;
      uint64_t value = 0;
      if (words >> name >> value && name == key) return value;
    }
    return uint64_t{0};
  };
  state.total = find("/proc/meminfo", "MemTotal:") * 1024;
  state.available = find("/proc/meminfo", "MemAvailable:") * 1024;
  state.oom_kills = find("/proc/vmstat", "oom_kill");
  return state;
}

}  // namespace hiroba
