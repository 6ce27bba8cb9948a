// Facts from the kernel's text files about processes and memory. No state.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace hiroba {

struct ProcessFacts {
  std::string name;  // empty: there is no such process
  pid_t parent = 0;
  char state = 'X';

  bool has_ended() const { return state == 'Z' || state == 'X'; }
};

// /proc/PID/stat is "PID (NAME) STATE PARENT ..."; the name may hold anything, so it ends at the last ')'.
inline ProcessFacts process_facts(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t open = text.find('('), close = text.rfind(')');
  if (close == std::string::npos || close + 4 > text.size()) return {};
  return {text.substr(open + 1, close - open - 1), std::atoi(text.c_str() + close + 4), text[close + 2]};
}

// Returns whether there is such a process, and it is of the user of this one: also for root, because what processes of
// others say is not to be trusted.
inline bool is_own_process(pid_t pid) {
  struct stat info = {};
  return pid > 0 && stat(("/proc/" + std::to_string(pid)).c_str(), &info) == 0 && info.st_uid == geteuid();
}

// Returns the number after this word in a file such as /proc/meminfo.
inline std::optional<uint64_t> number_after(const std::string& word, const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    uint64_t number = 0;
    for (std::string found; words >> found;)
      if (found == word && words >> number) return number;
  }
  return std::nullopt;
}

}  // namespace hiroba
