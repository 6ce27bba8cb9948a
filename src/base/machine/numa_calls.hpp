// The system calls that place memory on NUMA domains. A contract, so that tests record what is called, and play
// machines with several domains. Thread-safe, and usable in a signal handler.
#pragma once

#include <cstddef>
#include <span>

namespace hiroba {

class NumaCalls {
 public:
  // Where pages come from when they are first used. standard: the domain of the thread that touches them first.
  // preferred: one domain, while it has memory. interleave: by pages, in turn.
  enum class Policy { standard, preferred, interleave };
  // What domain_of() and move() say of a page that is not in memory, or not mapped here.
  static constexpr int absent = -1;

  virtual ~NumaCalls() = default;
  // For a shared mapping of a memory file the policy is the file's, and holds in all processes. Returns an errno, or 0.
  virtual int set_policy(void* address, size_t bytes, Policy policy, std::span<const int> domains) = 0;
  // For each page that this process has mapped, its domain, or `absent`, or another negative errno. Returns an errno.
  virtual int query(std::span<void* const> pages, std::span<int> domains) = 0;
  // Moves pages that no other process has mapped, and says as query() where they are then.
  virtual int move(std::span<void* const> pages, int to, std::span<int> domains) = 0;

  static NumaCalls& system();
};

// Of another process (0: this one): where its pages are. Needs the right to trace it.
int query_pages(int process, std::span<void* const> pages, std::span<int> domains);

}  // namespace hiroba
