#include "launcher/capacity.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "base/text.hpp"
#include "launcher/processes.hpp"

namespace hiroba {

namespace {

constexpr uint64_t unlimited = std::numeric_limits<uint64_t>::max();

// Returns the number in a file of one word; `unlimited` if it has none, such as "max".
uint64_t number_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? number : unlimited;
}

// A limit of processes: its name, its value, and the present number of processes.
struct Limit {
  std::string name;
  uint64_t most = unlimited, present = 0;
  uint64_t left() const { return most == unlimited ? unlimited : most - std::min(most, present); }
};

// Returns the lowest limit of this process's control group and those around it.
Limit cgroup_limit() {
  Limit least;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string kind = line.substr(first + 1, second - first - 1);
    if (!kind.empty() && kind != "pids") continue;
    const std::string root = kind.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/pids";
    for (std::string path = line.substr(second + 1);; path.resize(path.rfind('/'))) {
      if (path == "/") path.clear();
      const std::string folder = root + path;
      const Limit here = {folder + "/pids.max", number_in(folder + "/pids.max"), number_in(folder + "/pids.current")};
      if (here.present != unlimited && here.left() < least.left()) least = here;
      if (path.empty()) break;
    }
  }
  return least;
}

// Returns the number of threads of all processes: the second number of the fourth word, "1/234".
uint64_t threads_of_machine() {
  std::ifstream file("/proc/loadavg");
  std::string word;
  for (int i = 0; i < 4; ++i) file >> word;
  return std::strtoull(word.c_str() + std::min(word.find('/') + 1, word.size()), nullptr, 10);
}

Limit least_process_limit() {
  Limit least = cgroup_limit();
  const uint64_t threads = threads_of_machine();
  for (const char* const name : {"/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max"}) {
    const Limit limit = {name, number_in(name), threads};
    if (limit.left() < least.left()) least = limit;
  }
  rlimit user = {RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_NPROC, &user);
  if (geteuid() != 0 && user.rlim_cur != RLIM_INFINITY && user.rlim_cur < least.left())
    least = {"ulimit -u", user.rlim_cur, 0};
  return least;
}

Status refuse(int ranks, uint64_t most, const std::string& why) {
  return Status::error("-n %d: %s; give at most %lu", ranks, why.c_str(), std::max<uint64_t>(1, most));
}

}  // namespace

Status check_capacity(int ranks, int nodes, int descriptors) {
  const auto wanted = static_cast<uint64_t>(ranks);
  rlimit files = {RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_NOFILE, &files);
  const uint64_t others = 16 + static_cast<uint64_t>(nodes);  // memory files, and this process's descriptors
  if (descriptors > 0 && wanted * static_cast<uint64_t>(descriptors) + others > files.rlim_cur)
    return refuse(ranks,
                  (files.rlim_cur - std::min<uint64_t>(others, files.rlim_cur)) / static_cast<uint64_t>(descriptors),
                  format("each rank needs %d file descriptors of hirobarun, and ulimit -n is %lu", descriptors,
                         files.rlim_cur));
  const Limit processes = least_process_limit();
  if (wanted > processes.left())
    return refuse(ranks, processes.left(),
                  format("each rank is a process, and %s is %lu, of which %lu are in use", processes.name.c_str(),
                         processes.most, processes.present));
  constexpr uint64_t least_memory = 1 << 20;  // of a process that does nothing
  const uint64_t memory = memory_state().available;
  if (memory > 0 && wanted > memory / least_memory)
    return refuse(ranks, memory / least_memory,
                  format("each rank needs at least %s of memory, and %s are free", show_bytes(least_memory).c_str(),
                         show_bytes(memory).c_str()));
  return {};
}

}  // namespace hiroba
