// The state that all transactions of this process share: its domain, how it reaches those of other nodes, the right to
// run alone, and counts.
//
// Owner: Transactions. start() and stop() while no transaction runs; the rest is thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "memory/memory.hpp"
#include "transaction/domain.hpp"
#include "transaction/far_homes.hpp"

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

struct TransactionSettings {
  int stripe_shift = 6;
  uint64_t attempts = 32;  // before a transaction runs alone
};

class TransactionProcess {
 public:
  TransactionProcess();

  void listen(Transport& transport) { far_homes_.listen(transport); }
  Status start(Memory& memory, const TransactionSettings& settings);
  void stop();

  TransactionDomain& here() const { return *here_; }
  Memory* memory() const { return memory_; }  // null without a job
  const TransactionSettings& settings() const { return settings_; }
  int spins() const { return spins_; }

  // Other nodes. The domain is null if this process does not reach its memory.
  int nodes() const { return static_cast<int>(domains_.size()); }
  TransactionDomain* domain(int node) const { return domains_[static_cast<size_t>(node)]; }
  uint64_t far_base() const { return far_base_; }
  uint64_t far_bytes() const { return far_bytes_; }  // 0: all memory is accessed by its address
  Status locate(uint64_t address, PastCache::Place& out) const;
  FarHomes& far_homes() { return far_homes_; }

  // Takes and gives back a slot of this node's domain. Ends the job if all are taken.
  Status take_slot(uint32_t& slot);
  static void give_slot(TransactionDomain& domain, uint32_t slot);

  // Blocks until this transaction alone runs in the whole job; `place` is where it begins. The caller is in none.
  Status begin_alone(const char* place);
  void end_alone();
  // Blocks until no transaction runs alone.
  Status await_end_of_alone(const char* place) const;
  // Blocks until each transaction of this node that began with an older snapshot has ended, or has a newer one.
  Status await_older(uint64_t version, uint32_t self) const;
  // Blocks until all transactions that run now, on any node, have ended or run again.
  Status await_all() const;
  // Advances what others wait for. True if anything happened.
  bool drive() const;
  // Calls done() until it is true; ends with a status after option timeout. `waits_for`: text for people.
  Status await(const std::function<bool()>& done, const std::function<std::string()>& waits_for) const;
  // Ends the job with the status, where a function cannot return it.
  [[noreturn]] void fail(const Status& status) const {
    fail_(status);
    __builtin_unreachable();
  }
  void set_fail(void (*fail)(const Status& status)) { fail_ = fail; }

  // A thread's counts, from its first transaction to its end.
  void add_counts(const TransactionCounts& counts);
  void remove_counts(const TransactionCounts& counts);
  void sum_counts(TransactionCounts& out) const;

 private:
  Status await_slot(TransactionDomain& domain, uint32_t slot, uint64_t seen, uint64_t version) const;
  Status await_slots(TransactionDomain& domain, bool all_ends) const;
  Status await_far_slots(int node, bool ends) const;
  Status await_all_slots(bool ends) const;
  std::string describe(const TransactionDomain& domain, uint32_t slot) const;
  Status take_token(const char* place);
  void set_serial(bool on) const;

  TransactionDomain* own_;  // without a job
  TransactionDomain* here_;
  Memory* memory_ = nullptr;
  TransactionSettings settings_;
  int spins_ = 100;
  std::vector<TransactionDomain*> domains_;  // by node
  uint64_t far_base_ = 0, far_bytes_ = 0;
  FarHomes far_homes_;
  mutable std::mutex counts_lock_;
  std::vector<const TransactionCounts*> counts_;
  TransactionCounts ended_;  // of threads that have ended
  void (*fail_)(const Status& status) = nullptr;
};

}  // namespace hiroba
