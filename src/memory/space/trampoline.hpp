// Functions that GCC makes of nested ones (Fortran's internal procedures as arguments, nested functions of GNU C): code
// on the stack, which loads two registers and jumps. Shared memory cannot be executed, so if a stack lies there, the
// handler of faults does what that code would.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <cstring>

namespace hiroba {

// Returns false if the fault is not that of a call to such code.
inline bool follow_trampoline([[maybe_unused]] ucontext_t& state) {
#if defined(__x86_64__)
  constexpr greg_t fetch = 0x10, present = 1;
  greg_t* const registers = state.uc_mcontext.gregs;
  if ((registers[REG_ERR] & (fetch | present)) != (fetch | present)) return false;
  const auto* code = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
  constexpr unsigned char endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}, long_load[] = {0x49, 0xbb}, short_load[] = {0x41, 0xbb};
  constexpr unsigned char load_chain[] = {0x49, 0xba}, jump[] = {0x49, 0xff, 0xe3};
  const auto starts_with = [&code](const auto& bytes) {
    if (std::memcmp(code, bytes, sizeof bytes) != 0) return false;
    code += sizeof bytes;
    return true;
  };
  const auto take = [&code](auto& value) {
    std::memcpy(&value, code, sizeof value);
    code += sizeof value;
  };
  uint64_t function = 0, chain = 0;
  uint32_t low = 0;
  starts_with(endbr);
  if (starts_with(long_load)) take(function);
  else if (starts_with(short_load)) take(low), function = low;
  else return false;
  if (!starts_with(load_chain)) return false;
  take(chain);
  if (!starts_with(jump)) return false;
  registers[REG_R11] = registers[REG_RIP] = static_cast<greg_t>(function);
  registers[REG_R10] = static_cast<greg_t>(chain);
  return true;
#else
  return false;
#endif
}

}  // namespace hiroba
