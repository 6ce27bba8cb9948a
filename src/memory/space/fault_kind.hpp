// Reads what the processor tells of an access that faults: its kind, and the instruction.
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

inline const void* code_of([[maybe_unused]] const ucontext_t& context) {
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(context.uc_mcontext.pc);
#else
  return nullptr;
#endif
}

}  // namespace hiroba
