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
  uint32_t caught;  // exceptions.caught at its begin
  hiroba_tx_savepoint savepoint;
};

// Exceptions of C++ in a transaction.
struct Exceptions {
  void* made;       // an object that has not been thrown yet; null: none
  uint64_t bytes;   // of it
  uint32_t caught;  // that the transaction handles now
};

struct State {
  static constexpr uint32_t most_blocks = 64;
  uint64_t stack;            // the stack above belongs to the function that has begun, or its callers
  Transaction* transaction;  // that of libhiroba
  bool direct;               // runs alone, and all its accesses take effect at once; by set_direct()
  bool looks;                // true if is_direct() is to look at more than the stack
  uint32_t number;           // of its latest transaction
  uint32_t depth;
  Nested* blocks;  // the outermost first; null before the thread's first transaction
  hiroba_tx_frame frame;
  Exceptions exceptions;

  void set_direct(bool now) { direct = now, looks = now || exceptions.made != nullptr; }
  void set_made(void* exception, uint64_t size) {
    exceptions.made = exception, exceptions.bytes = size;
    set_direct(direct);
  }
};

// Memory of functions that the transaction has called is its own: it is gone when it ends, or runs again. So is an
// exception that has not been thrown yet, and the C++ library stores to it directly.
inline bool is_direct(const State& state, const void* address) {
  const auto at = reinterpret_cast<uint64_t>(address);
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (state.looks) [[unlikely]] {
    const auto made = reinterpret_cast<uint64_t>(state.exceptions.made);
    if (state.direct || at - made < state.exceptions.bytes) return true;
  }
  return at - here < state.stack - here;
}

// The block that began with `caught` exceptions is undone: those that it has made or caught since are gone.
void forget_exceptions(uint32_t caught);

extern __thread State state __attribute__((tls_model("initial-exec"), visibility("hidden")));

}  // namespace hiroba::itm

extern "C" {
__attribute__((visibility("hidden"))) uint32_t hiroba_itm_begin(uint32_t properties,
                                                                const hiroba::itm::Registers* registers);
[[noreturn]] void hiroba_itm_return(const hiroba::itm::Registers* registers, uint32_t actions);
}
