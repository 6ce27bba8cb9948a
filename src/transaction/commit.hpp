// The commit of a transaction that has stored: it locks the stripes of its stores, validates what was read, and writes.
// README.md has the steps, and why they are right.
//
// Owner: a Transaction, whose thread alone uses it. run() waits for no lock; between nodes it blocks for answers.
#pragma once

#include <vector>

#include "transaction/snapshot.hpp"
#include "transaction/write_set.hpp"

namespace hiroba {

class Commit {
 public:
  Commit(TransactionProcess& process, const Snapshot& snapshot, const WriteSet& writes)
      : process_(process), snapshot_(snapshot), writes_(writes) {}
  void enter(TransactionDomain& domain, uint32_t slot) { domain_ = &domain, slot_ = slot; }

  // Writes, or returns false without effect. `version` gets that of what it has written on this node.
  bool run(uint64_t& version);

 private:
  // The stripes of one other node that is reached by messages, and what to write there.
  struct Far {
    int node;
    std::vector<FarStripe> stripes;
    std::vector<FarWrite> writes;
  };
  struct Target {
    PastCache::Place place;
    char* data;
    bool by_messages;
  };

  bool run_here(uint64_t& version);
  bool run_anywhere(uint64_t& version);
  bool lock_word(StripeWord& stripe);
  void unlock_unchanged();
  void find_targets();
  Far& far_of(int node);
  void add_far(const WriteSet::Entry& entry, const Target& target, int node);
  bool lock_reached();
  bool lock_far(size_t& locked);
  bool ask(const Far& far, FarHomes::Kind kind, const void* items, size_t size, size_t count) const;
  bool validate() const;
  void write_anywhere(uint64_t& version);
  TransactionDomain& domain_of(const Target& target) const;

  TransactionProcess& process_;
  const Snapshot& snapshot_;
  const WriteSet& writes_;
  TransactionDomain* domain_ = nullptr;
  uint32_t slot_ = 0;
  std::vector<StripeLock> locks_;
  std::vector<TransactionDomain*> locked_in_;  // the domains of these locks
  std::vector<Target> targets_;                // of the stores
  std::vector<Far> far_;
};

}  // namespace hiroba
