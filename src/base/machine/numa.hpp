// The NUMA domains of this machine, as the kernel numbers them. Values; thread-safe.
#pragma once

#include <string>
#include <vector>

namespace hiroba {

// The folder in which it says so.
constexpr char kernel_domains[] = "/sys/devices/system/node";

// How far the domains are from each other, in the units of firmware: 10 is a domain's own memory.
struct NumaDistances {
  static constexpr int own = 10, unknown = 255;
  int domains = 1;       // numbered from 0; those that are absent are far from all
  std::vector<int> row;  // of each domain after the other

  // From 0 to `domains`; any other number is a domain that is not known.
  int between(int a, int b) const {
    if (a == b) return own;
    const bool known = a >= 0 && b >= 0 && a < domains && b < domains;
    return known ? row[static_cast<size_t>(a) * static_cast<size_t>(domains) + static_cast<size_t>(b)] : unknown;
  }
  // From what the kernel says in a folder like its own; a single domain where that says nothing.
  static NumaDistances load(const std::string& folder = kernel_domains);
};

// Of the domains that this machine has, in order; 0 alone where the kernel does not say.
std::vector<int> numa_domains(const std::string& folder = kernel_domains);
std::vector<int> cpus_of_domain(int domain, const std::string& folder = kernel_domains);
// The domain that has all of these CPUs; -1 if they are in several.
int numa_domain_of(const std::vector<int>& cpus, const std::string& folder = kernel_domains);

// On which the calling thread runs now.
int numa_domain_here();

}  // namespace hiroba
