// Names the kinds of accesses that fault.
#pragma once

#include <sys/ucontext.h>

#include <cstdint>

namespace hiroba {

enum class FaultKind : uint8_t { load, store };

// The processor's error code says it; where there is none every access counts as a load.
inline FaultKind fault_kind([[maybe_unused]] const ucontext_t& context) {
#ifdef __x86_64__
  constexpr greg_t write_bit = 2;
  if ((context.uc_mcontext.gregs[REG_ERR] & write_bit) != 0) return FaultKind::store;
#endif
  return FaultKind::load;
}

}  // namespace hiroba
