// One attempt of a transaction for option check: what it accesses, and when it comes among all transactions, so that
// races of other accesses with it are found, and those that it orders are none. Transactions of a node have an order,
// that of their versions; of several nodes it is not known.
//
// Owner: a Transaction, whose thread alone uses it. Without option check nothing is called but on().
#pragma once

#include <cstdint>

#include "transaction/process_part.hpp"
#include "transaction/write_set.hpp"

namespace hiroba {

class CheckedTurn {
 public:
  explicit CheckedTurn(const TransactionProcess& process) : process_(process) {}

  bool on() const { return process_.checking(); }
  void begin() {
    if (knows_order()) event_ = memory().begin_turn();
    else memory().order();
  }
  // The program accesses the bytes of this word that the mask selects.
  void access(uint64_t word, uint64_t mask, bool writes) const {
    if (word - process_.far_base() < process_.far_bytes()) memory().record(word, mask, writes);
  }
  // A commit has stored these at the version; 0: it has none.
  void commit(const WriteSet& writes, uint64_t snapshot, uint64_t version) {
    for (const WriteSet::Entry& entry : writes.entries()) access(entry.address, entry.mask, true);
    end(snapshot, version);
  }
  // The attempt has read what was there at the version `snapshot`, and written `version`, or nothing: 0.
  void end(uint64_t snapshot, uint64_t version) {
    if (knows_order()) memory().end_turn(event_, version != 0 ? 2 * version : 2 * snapshot + 1);
    else memory().order();
  }

 private:
  bool knows_order() const { return process_.nodes() == 1; }
  const PastCache& memory() const { return process_.memory()->past_cache(); }

  const TransactionProcess& process_;
  uint32_t event_ = 0;
};

}  // namespace hiroba
