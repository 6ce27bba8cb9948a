// The order in which an idle thread steals tasks from others on machines with several NUMA domains: threads of its own
// domain come first, because their tasks use data that is near.
//
// Owner: Tasks, which creates one if there are several domains. Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "base/machine/numa.hpp"

namespace hiroba {

// Returns all other threads, the nearest domain first, and those of a domain from the next one on. domains[t] is the
// domain of thread t.
std::vector<int> victims_of(int thread, std::span<const int> domains, const NumaDistances& distances);

// The domain in which each thread runs. Threads are not bound to one: a thread checks its domain when it is idle.
class Domains {
 public:
  using Here = int (*)();  // the domain of the calling thread
  Domains(int threads, NumaDistances distances, Here here = numa_domain_here);
  // Returns null if the machine has one domain.
  static std::unique_ptr<Domains> of_machine(int threads);

  // Records the domain of the calling thread, which is this one.
  void note(int thread);
  // Counts the moves of threads; an older order of `victims` is then not the best.
  uint32_t moves() const { return moves_.load(std::memory_order_relaxed); }
  std::vector<int> victims(int thread) const;

 private:
  static constexpr int unknown = -1;
  const NumaDistances distances_;
  const Here here_;
  std::vector<std::atomic<int>> of_thread_;
  std::atomic<uint32_t> moves_{1};
};

// The order in which one thread tries the others. For that thread.
class Victims {
 public:
  // Without domains all others are equal.
  void start(int thread, int threads, Domains* domains) {
    thread_ = static_cast<uint32_t>(thread), threads_ = static_cast<uint32_t>(threads), domains_ = domains;
  }
  // Returns the first result of attempt(victim) that is not null; null if there is none.
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
  uint32_t next_ = 0;  // without domains: the last thread that had tasks
  Domains* domains_ = nullptr;
  std::vector<int> order_;  // valid for moves_ moves of threads
  uint32_t moves_ = 0;
};

}  // namespace hiroba
