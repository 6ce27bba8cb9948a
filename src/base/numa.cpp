#include "base/numa.hpp"

#include <sched.h>

#include <fstream>
#include <sstream>

#include "base/status.hpp"

namespace hiroba {

namespace {

// Of a list like "0-1,4".
std::vector<int> numbers_of(const std::string& list) {
  std::vector<int> out;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) {
    int first = 0, last = 0;
    char dash = 0;
    std::istringstream words(part);
    if (!(words >> first)) continue;
    if (!(words >> dash >> last)) last = first;
    for (int i = first; i <= last; ++i) out.push_back(i);
  }
  return out;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

NumaDistances NumaDistances::load(const std::string& folder) {
  NumaDistances out;
  const std::vector<int> online = numbers_of(first_line(folder + "/online"));
  if (online.size() < 2) return out;
  out.domains = online.back() + 1;
  const auto n = static_cast<size_t>(out.domains);
  out.row.assign(n * n, unknown);
  for (const int from : online) {
    std::istringstream distances(first_line(format("%s/node%d/distance", folder.c_str(), from)));
    for (const int to : online) distances >> out.row[static_cast<size_t>(from) * n + static_cast<size_t>(to)];
  }
  return out;
}

int numa_domain_here() {
  unsigned cpu = 0, domain = 0;
  return getcpu(&cpu, &domain) == 0 ? static_cast<int>(domain) : 0;
}

}  // namespace hiroba
