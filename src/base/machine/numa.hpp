// The NUMA domains of this machine, by the kernel's numbers. Values; thread-safe.
#pragma once

#include <string>
#include <vector>

namespace hiroba {

// The kernel describes the domains in this folder.
constexpr char kernel_domains[] = "/sys/devices/system/node";

// Distances between domains, in the units of the firmware: 10 is a domain's own memory.
struct NumaDistances {
  static constexpr int own = 10, unknown = 255;
  int domains = 1;       // numbered from 0; absent ones are far from all
  std::vector<int> row;  // the rows of the domains, one after the other

  // Accepts 0 to `domains` - 1; any other number is an unknown domain.
  int between(int a, int b) const {
    if (a == b) return own;
    const bool known = a >= 0 && b >= 0 && a < domains && b < domains;
    return known ? row[static_cast<size_t>(a) * static_cast<size_t>(domains) + static_cast<size_t>(b)] : unknown;
  }
  // Reads a folder like the kernel's; the result is a single domain if the folder has no distances.
  static NumaDistances load(const std::string& folder = kernel_domains);
};

// Returns the domains of this machine, in order; 0 alone if the kernel does not list them.
std::vector<int> numa_domains(const std::string& folder = kernel_domains);
std::vector<int> cpus_of_domain(int domain, const std::string& folder = kernel_domains);
// Returns the domain that has all of these CPUs; -1 if several have them.
int numa_domain_of(const std::vector<int>& cpus, const std::string& folder = kernel_domains);

// Returns the domain on which the calling thread runs now.
int numa_domain_here();

}  // namespace hiroba
