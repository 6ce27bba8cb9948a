#include "base/machine/numa.hpp"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/status.hpp"
#include "base/text.hpp"

namespace hiroba {

namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

std::vector<int> numa_domains(const std::string& folder) {
  return parse_numbers(first_line(folder + "/online")).value_or(std::vector<int>{0});
}

std::vector<int> cpus_of_domain(int domain, const std::string& folder) {
  return parse_numbers(first_line(format("%s/node%d/cpulist", folder.c_str(), domain))).value_or(std::vector<int>{});
}

NumaDistances NumaDistances::load(const std::string& folder) {
  NumaDistances out;
  const std::vector<int> online = numa_domains(folder);
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

int numa_domain_of(const std::vector<int>& cpus, const std::string& folder) {
  const std::vector<int> online = numa_domains(folder);
  if (online.size() == 1) return online[0];
  int found = -1;
  for (const int domain : online) {
    const std::vector<int> its = cpus_of_domain(domain, folder);
    const auto here = [&its](int cpu) { return std::find(its.begin(), its.end(), cpu) != its.end(); };
    if (std::none_of(cpus.begin(), cpus.end(), here)) continue;
    if (found >= 0) return -1;
    found = domain;
  }
  return found;
}

int numa_domain_here() {
  unsigned cpu = 0, domain = 0;
  return getcpu(&cpu, &domain) == 0 ? static_cast<int>(domain) : 0;
}

}  // namespace hiroba
