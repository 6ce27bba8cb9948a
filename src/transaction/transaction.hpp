// The contract of this floor: transactions on shared and private memory.
//
// A Transactions object is one process's part, and owns what its threads share. Each thread has a Transaction, which it
// uses again and again: begin, loads and stores, commit. The notation keeps both. A transaction that cannot go on is
// undone, and calls its `restart`, which does not return: it jumps to the begin of the program's block, or throws. So
// the functions that may restart hold nothing that needs an end. README.md has the protocol, and why it is right.
//
// start and stop are collective; there is no transaction in the process then. A Transaction is for its thread alone;
// everything else is thread-safe. Errors that a function cannot return end the job by `fail`.
#pragma once

#include "transaction/attempt.hpp"
#include "transaction/process_part.hpp"

namespace hiroba {

class Transactions {
 public:
  void listen(Transport& transport) { process_.listen(transport); }  // before it starts
  Status start(Memory& memory, const Options& options);
  Status stop();

  TransactionProcess& process() { return process_; }

 private:
  TransactionProcess process_;
};

}  // namespace hiroba
