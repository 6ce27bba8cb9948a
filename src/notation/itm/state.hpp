// One thread's transaction of GCC: how it begins again, its nested blocks, and whether it accesses memory directly.
//
// Owner: the thread. hiroba_itm_begin is called by _ITM_beginTransaction; hiroba_itm_return makes that return again.
#pragma once

#include <cstdint>

#include "transaction.h"
#include "transaction/transaction.hpp"

namespace hiroba::itm {

// The registers of the caller of _ITM_beginTransaction after its return.
struct Registers {
  uint64_t sp, ip, rbx, rbp, r12, r13, r14, r15;
};

// GCC's ABI: properties of a block, actions after its begin, and reasons of an abort.
enum Property : uint32_t { instrumented = 0x1, uninstrumented = 0x2, has_no_abort = 0x8, goes_irrevocable = 0x40 };
enum Action : uint32_t {
  run_instrumented = 1,
  run_uninstrumented = 2,
  save_live = 4,
  restore_live = 8,
  run_after_abort = 16
};
enum Reason : uint32_t { user_abort = 1, outer_abort = 16 };

struct Nested {
  Registers registers;
  uint32_t properties;
  bool saved;
  hiroba_tx_savepoint savepoint;
};

struct State {
  static constexpr uint32_t most_blocks = 64;
  uint64_t stack;            // the stack above belongs to the function that has begun, or its callers
  Transaction* transaction;  // that of libhiroba
  bool direct;               // runs alone, and all its accesses take effect at once
  uint32_t number;           // of its latest transaction
  uint32_t depth;
  Nested* blocks;  // the outermost first; null before the thread's first transaction
  hiroba_tx_frame frame;
};

// Memory of functions that the transaction has called is its own: it is gone when it ends, or runs again.
inline bool is_direct(const State& state, const void* address) {
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  return state.direct || reinterpret_cast<uint64_t>(address) - here < state.stack - here;
}

extern __thread State state __attribute__((tls_model("initial-exec"), visibility("hidden")));

}  // namespace hiroba::itm

extern "C" {
__attribute__((visibility("hidden"))) uint32_t hiroba_itm_begin(uint32_t properties,
                                                                const hiroba::itm::Registers* registers);
[[noreturn]] void hiroba_itm_return(const hiroba::itm::Registers* registers, uint32_t actions);
}
