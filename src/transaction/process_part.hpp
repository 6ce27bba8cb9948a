// The state that all transactions of this process share: its domain, and how it reaches those of other nodes.
//
// Owner: Transactions. start() and stop() while no transaction runs; the rest is thread-safe.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "memory/memory.hpp"
#include "transaction/counts.hpp"
#include "transaction/domain.hpp"
#include "transaction/far_homes.hpp"
#include "transaction/others.hpp"
#include "transaction/sent_calls.hpp"

namespace hiroba {

struct TransactionSettings {
  int stripe_shift = 6;
  uint64_t attempts = 32;  // before a transaction runs alone
};

class TransactionProcess {
 public:
  TransactionProcess();

  void listen(Transport& transport) { far_homes_.listen(transport), sent_calls_.listen(transport); }
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
  // `slot`: of the thread whose transaction accesses the address, for a message.
  Status locate(uint64_t address, const TransactionSlot& slot, PastCache::Place& out) const;
  FarHomes& far_homes() { return far_homes_; }
  // Returns the size of an object of the heap or of malloc; 0 for other shared memory.
  size_t object_bytes(void* object) const;

  bool checking() const { return checking_; }  // option check

  // Takes and gives back a slot of this node's domain. Ends the job if all are taken.
  Status take_slot(uint32_t& slot);
  static void give_slot(TransactionDomain& domain, uint32_t slot);

  // Advances what others wait for. True if anything happened.
  bool drive() const;
  // Calls done() until it is true; ends with a status after option timeout. `waits_for`: text for people.
  Status await(const std::function<bool()>& done, const std::function<std::string()>& waits_for) const;
  // The same, for what transactions of any node change: this thread sleeps until one commits.
  Status await_commit(const std::function<bool()>& done, const std::function<std::string()>& waits_for) const;
  // Ends the job with the status, if it is an error, where a function cannot return it.
  void require(const Status& status) const {
    if (!status.ok()) fail_(status);
  }
  void set_fail(void (*fail)(const Status& status)) { fail_ = fail; }

  OtherTransactions& others() { return others_; }
  SentCalls& sent_calls() { return sent_calls_; }
  CountsOfThreads& counts() { return counts_; }

 private:
  TransactionDomain* own_;  // without a job
  TransactionDomain* here_;
  Memory* memory_ = nullptr;
  TransactionSettings settings_;
  int spins_ = 100;
  std::vector<TransactionDomain*> domains_;  // by node
  uint64_t far_base_ = 0, far_bytes_ = 0;
  bool checking_ = false;
  FarHomes far_homes_;
  OtherTransactions others_{*this};
  SentCalls sent_calls_{*this};
  CountsOfThreads counts_;
  void (*fail_)(const Status& status) = nullptr;
};

}  // namespace hiroba
