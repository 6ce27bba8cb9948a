// Input and output that the program asks the C library for. The functions that replace the library's (effects.cpp of
// notation/transaction, system_calls.cpp of memory) report it here before they act, and a model that must not have it
// looks at it: code that may run again would do it again.
//
// Thread-safe; costs a load and a branch if nobody looks.
#pragma once

#include <atomic>

namespace hiroba {

// `caller`: the code that has called the function.
using EffectCheck = void (*)(const char* call, const void* caller);
inline constinit std::atomic<EffectCheck> effect_check = nullptr;

inline void report_effect(const char* call, const void* caller) {
  const EffectCheck check = effect_check.load(std::memory_order_relaxed);
  if (check != nullptr) [[unlikely]]
    check(call, caller);
}

}  // namespace hiroba
