// longjmp() of a program, which may not leave a parallel region: the other threads wait for this one at the region's
// end. Within the region's function it is the C library's.
#include <setjmp.h>

#include <bit>
#include <cstdint>

#include "base/debug/symbols.hpp"
#include "base/log.hpp"
#include "openmp/openmp.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace hiroba;
using namespace hiroba::openmp;

extern "C" [[noreturn]] void __longjmp_chk(jmp_buf place, int value) noexcept;

namespace {

// The C library keeps the stack pointer rotated, and mixed with a secret of the process. So a place that another rank
// has noted is on no stack, in most cases.
const char* stack_of(const __jmp_buf_tag* place) {
  constexpr int stack_pointer = 6, rotated = 17;
  uint64_t secret;
  asm("mov %%fs:0x30, %0" : "=r"(secret));
  return reinterpret_cast<const char*>(std::rotr(static_cast<uint64_t>(place->__jmpbuf[stack_pointer]), rotated) ^
                                       secret);
}

void check_jump(const __jmp_buf_tag* place, const char* here, const void* caller) {
  const char* const there = stack_of(place);
  if (!member.spans || (there >= here && there < member.frame)) return;
  const InRuntime runtime;
  end_job(1,
          "longjmp() leaves a parallel region, at %s: the other threads wait for this one at its end; catch errors "
          "within the region, and leave by a variable that all threads test",
          source_location(static_cast<const char*>(caller) - 1).c_str());
}

}  // namespace

#define JUMP(name, type)                                                                                  \
  EXPORT __attribute__((noreturn)) void name(type place, int value) noexcept {                            \
    check_jump(place, static_cast<const char*>(__builtin_frame_address(0)), __builtin_return_address(0)); \
    HIROBA_REAL(name)(place, value);                                                                      \
    __builtin_unreachable();                                                                              \
  }

JUMP(longjmp, jmp_buf)
JUMP(_longjmp, jmp_buf)
JUMP(siglongjmp, sigjmp_buf)
JUMP(__longjmp_chk, jmp_buf)
