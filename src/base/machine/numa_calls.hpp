// The system calls that place memory on NUMA domains. It is an interface, so that tests can record the calls and
// imitate machines with several domains. Thread-safe, and usable in a signal handler.
#pragma once

#include <cstddef>
#include <span>

namespace hiroba {

class NumaCalls {
 public:
  // Decides where pages come from at their first use. standard: the domain of the thread that touches them first.
  // preferred: one domain, while it has memory. interleave: all domains in turn, by pages.
  enum class Policy { standard, preferred, interleave };
  // query() and move() return it for a page that is not in memory, or not mapped here.
  static constexpr int absent = -1;

  virtual ~NumaCalls() = default;
  // Sets a policy. For a shared mapping of a memory file it is the file's, and holds in all processes. Returns an errno
  // or 0.
  virtual int set_policy(void* address, size_t bytes, Policy policy, std::span<const int> domains) = 0;
  // Stores for each page that this process has mapped its domain, `absent`, or another negative errno. Returns an
  // errno.
  virtual int query(std::span<void* const> pages, std::span<int> domains) = 0;
  // Moves pages that no other process has mapped, and stores their new domains as query() does.
  virtual int move(std::span<void* const> pages, int to, std::span<int> domains) = 0;

  static NumaCalls& system();
};

// Queries the pages of another process (0: this one). Requires the right to trace it.
int query_pages(int process, std::span<void* const> pages, std::span<int> domains);

}  // namespace hiroba
