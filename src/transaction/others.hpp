// Waits for the transactions of other threads: for older ones after a commit, for all before one that runs alone, and
// for its end. README.md, "Privatisation" and "Every transaction ends".
//
// Owner: TransactionProcess. Thread-safe; all of it may block, and drives progress. A wait beyond option timeout is an
// error that names the other transaction.
#pragma once

#include <string>

#include "base/status.hpp"
#include "transaction/domain.hpp"

namespace hiroba {

class TransactionProcess;

class OtherTransactions {
 public:
  explicit OtherTransactions(TransactionProcess& process) : process_(process) {}

  // Blocks until this transaction alone runs in the whole job; `place` is where it begins. The caller is in none.
  Status begin_alone(const char* place);
  void end_alone();
  // Blocks until no transaction runs alone.
  Status await_end_of_alone(const char* place) const;
  // Blocks until each transaction of this node that began with an older snapshot has ended, or has a newer one.
  Status await_older(uint64_t version, uint32_t self) const;
  // Blocks until all transactions that run now, on any node, have ended or run again.
  Status await_all() const;

 private:
  Status await_slot(TransactionDomain& domain, uint32_t slot, uint64_t seen, uint64_t version) const;
  Status await_slots(TransactionDomain& domain, bool ends) const;
  Status await_far_slots(int node, bool ends) const;
  Status await_all_slots(bool ends) const;
  struct Holder {  // the thread of a slot
    int rank, thread, process;
    uint64_t begun;  // TransactionSlot::begun
    double since;    // this thread has seen it in its transaction; 0: not known
  };
  static Holder holder_of(const TransactionSlot& slot, double since);
  std::string describe(const Holder& holder) const;
  std::string describe_alone() const;
  Status take_token(const char* place);
  void set_serial(bool on) const;

  TransactionProcess& process_;
};

}  // namespace hiroba
