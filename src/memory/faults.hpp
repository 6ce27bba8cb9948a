// SIGBUS and SIGSEGV: serves accesses to absent pages, explains other accesses to the address range, and reports
// crashes. Handlers that the program had installed are called for everything that is not ours.
//
// Owner: the process; it serves one MemoryParts at a time, between install and remove.
#pragma once

namespace hiroba {

struct MemoryParts;

void install_fault_handler(MemoryParts& parts);
void remove_fault_handler();
MemoryParts* served_memory();  // null if none

}  // namespace hiroba
