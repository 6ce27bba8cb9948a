// From whom a thread without work takes tasks, on machines with several NUMA domains: from threads of its own domain
// first, because what their tasks use is near.
//
// Owner: Tasks, which has one where there are several domains. Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "base/machine/numa.hpp"

namespace hiroba {

// All other threads, the nearest domain first, and those of a domain from the next one on. domains[t]: that of thread
// t.
std::vector<int> victims_of(int thread, std::span<const int> domains, const NumaDistances& distances);

// In which domain each thread runs. Threads are not bound to one: a thread looks where it is when it has nothing to do.
class Domains {
 public:
  using Here = int (*)();  // the domain of the calling thread
  Domains(int threads, NumaDistances distances, Here here = numa_domain_here);
  // Null if the machine has one domain.
  static std::unique_ptr<Domains> of_machine(int threads);

  // The calling thread is this one.
  void note(int thread);
  // Counts when a thread is elsewhere; `victims` of before are then not in the best order.
  uint32_t moves() const { return moves_.load(std::memory_order_relaxed); }
  std::vector<int> victims(int thread) const;

 private:
  static constexpr int unknown = -1;
  const NumaDistances distances_;
  const Here here_;
  std::vector<std::atomic<int>> of_thread_;
  std::atomic<uint32_t> moves_{1};
};

// In which order one thread tries the others. For that thread.
class Victims {
 public:
  // Without domains all others are alike.
  void start(int thread, int threads, Domains* domains) {
    thread_ = static_cast<uint32_t>(thread), threads_ = static_cast<uint32_t>(threads), domains_ = domains;
  }
  // What attempt(victim) returns, of the first one where that is not null; null if there is none.
  template <typename Attempt>
  auto first(const Attempt& attempt) {
    if (domains_ != nullptr) return first_near(attempt);
    for (uint32_t i = 1; i < threads_; ++i, ++next_) {
      if (next_ % threads_ == thread_) ++next_;
      if (auto* const found = attempt(static_cast<int>(next_ % threads_))) return found;
    }
    return decltype(attempt(0)){};
  }

 private:
  template <typename Attempt>
  auto first_near(const Attempt& attempt) {
    domains_->note(static_cast<int>(thread_));
    const uint32_t moves = domains_->moves();
    if (moves != moves_) order_ = domains_->victims(static_cast<int>(thread_)), moves_ = moves;
    for (const int victim : order_)
      if (auto* const found = attempt(victim)) return found;
    return decltype(attempt(0)){};
  }

  uint32_t thread_ = 0, threads_ = 1;
  uint32_t next_ = 0;  // without domains: the last that had some
  Domains* domains_ = nullptr;
  std::vector<int> order_;  // when threads had moved so often
  uint32_t moves_ = 0;
};

}  // namespace hiroba
