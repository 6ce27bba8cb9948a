// Counts of transactions, for statistics.
//
// Owner: each Transaction has its own, which its thread changes and any thread reads; CountsOfThreads is thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <vector>

namespace hiroba {

// Counts of one thread, which others read at any time.
class TransactionCounts {
 public:
  enum Kind { commits, read_only, aborts, retries, alone, most_aborts, messages, histogram, kinds = histogram + 16 };
  uint64_t operator[](int kind) const { return values_[static_cast<size_t>(kind)].load(std::memory_order_relaxed); }
  void set(int kind, uint64_t value) { values_[static_cast<size_t>(kind)].store(value, std::memory_order_relaxed); }
  void add(int kind, uint64_t more = 1) { set(kind, (*this)[kind] + more); }
  // A transaction has committed after some aborts.
  void commit(uint64_t aborted, bool wrote) {
    add(commits);
    if (!wrote) add(read_only);
    add(histogram + std::min(static_cast<int>(std::bit_width(aborted)), kinds - histogram - 1));
    if (aborted > (*this)[most_aborts]) set(most_aborts, aborted);
  }
  void merge(const TransactionCounts& other) {
    for (int kind = 0; kind < kinds; ++kind)
      set(kind, kind == most_aborts ? std::max((*this)[kind], other[kind]) : (*this)[kind] + other[kind]);
  }

 private:
  std::array<std::atomic<uint64_t>, kinds> values_{};
};

// The counts of all threads of the process, also of those that have ended.
class CountsOfThreads {
 public:
  void add(const TransactionCounts& counts) {
    const std::lock_guard guard(lock_);
    live_.push_back(&counts);
  }
  void remove(const TransactionCounts& counts) {
    const std::lock_guard guard(lock_);
    std::erase(live_, &counts);
    ended_.merge(counts);
  }
  void sum(TransactionCounts& out) const {
    const std::lock_guard guard(lock_);
    out.merge(ended_);
    for (const TransactionCounts* counts : live_) out.merge(*counts);
  }

 private:
  mutable std::mutex lock_;
  std::vector<const TransactionCounts*> live_;
  TransactionCounts ended_;
};

}  // namespace hiroba
