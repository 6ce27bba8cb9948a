// SIGBUS and SIGSEGV: serves accesses to absent pages, explains other accesses to the address range, and reports
// crashes. Handlers that the program had installed are called for all other faults.
//
// Owner: the process; it serves one MemoryParts at a time, between install and remove.
#pragma once

#include <signal.h>

#include <array>

namespace hiroba {

struct MemoryParts;

// Restores at its end the signal actions that the program had at its beginning: network libraries install handlers,
// which print a stack of their own.
class KeptSignals {
 public:
  KeptSignals();
  KeptSignals(const KeptSignals&) = delete;
  ~KeptSignals();

 private:
  std::array<struct sigaction, 5> before_;
};

void install_fault_handler(MemoryParts& parts);
// Afterwards an access to former shared memory ends the process with a message that names `call`, the end.
void remove_fault_handler(const char* call);
MemoryParts* served_memory();  // null if none

}  // namespace hiroba
