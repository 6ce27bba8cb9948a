#include "openmp/program/stacks.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"
#include "openmp/program/runtime.hpp"

namespace hiroba::openmp {

namespace {

constexpr uint64_t least = uint64_t{8} << 20, unlimited = uint64_t{1} << 30;

// Returns the size that the user gives stacks: of threads by OMP_STACKSIZE, of the first one by the shell's limit. A
// shared stack serves both, and uses memory only where it is used.
uint64_t stack_bytes() {
  uint64_t bytes = least;
  rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) == 0)
    bytes = std::max<uint64_t>(bytes, limit.rlim_cur == RLIM_INFINITY ? unlimited : limit.rlim_cur);
  if (const char* const text = std::getenv("OMP_STACKSIZE")) {
    char* unit = nullptr;
    const uint64_t number = std::strtoull(text, &unit, 10);
    while (*unit == ' ') ++unit;
    const char letter = static_cast<char>(*unit | 0x20);
    const int shift = letter == 'b' ? 0 : letter == 'm' ? 20 : letter == 'g' ? 30 : 10;  // OpenMP: KiB by default
    bytes = std::max(bytes, number << shift);
  }
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

}  // namespace

Status Stacks::allocate(Memory& memory, int most) {
  const Job& job = memory.job();
  bytes_ = stack_bytes() + page_bytes, most_ = most;
  const uint64_t each = bytes_ * static_cast<uint64_t>(most);
  Arrays::Request request = array_of_ranks(job, "stacks of threads", 1, static_cast<int64_t>(each));
  request.closed_pages =
      "the stack of a thread has overflowed; give it more by OMP_STACKSIZE, as in OMP_STACKSIZE=64M, or by ulimit -s";
  request.sparse = request.watched = request.own_open = true;
  request.closable = false;  // functions of the C library give the system variables of theirs
  void* all = nullptr;
  if (const Status status = memory.arrays().allocate(request, all); !status.ok())
    return Status::error(
        "%s; each rank has stacks for %d threads, of %lu MiB each: lower OMP_STACKSIZE, ulimit -s, or the "
        "number of threads",
        status.message().c_str(), most, bytes_ >> 20);
  all_ = {static_cast<char*>(all), each * static_cast<uint64_t>(job.nranks)};
  mine_ = static_cast<char*>(all) + static_cast<uint64_t>(job.rank) * each;
  for (int i = 0; i < most; ++i) mprotect(mine_ + static_cast<uint64_t>(i) * bytes_, page_bytes, PROT_NONE);
  return {};
}

// Faults are handled on another stack: an overflow has left no room on the thread's own.
void Stacks::handle_faults_elsewhere() {
  thread_local std::unique_ptr<char[]> memory;
  if (memory != nullptr) return;
  const InRuntime runtime;
  constexpr size_t bytes = 128 << 10;
  memory.reset(new char[bytes]);
  const stack_t stack = {memory.get(), 0, bytes};
  sigaltstack(&stack, nullptr);
}

// void hiroba_openmp_call_on(char* top, void (*function)(void*), void* argument)
asm(R"(
  .text
  .type hiroba_openmp_call_on, @function
  .hidden hiroba_openmp_call_on
hiroba_openmp_call_on:
  .cfi_startproc
  endbr64
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  mov %rsp, %rbp
  .cfi_def_cfa_register %rbp
  mov %rdi, %rsp
  mov %rdx, %rdi
  call *%rsi
  mov %rbp, %rsp
  pop %rbp
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size hiroba_openmp_call_on, .-hiroba_openmp_call_on
)");
extern "C" void hiroba_openmp_call_on(char* top, void (*function)(void*), void* argument);

void Stacks::call_from(char* top, void (*function)(void*), void* argument) {
  hiroba_openmp_call_on(top, function, argument);
}

void Stacks::call_on(int thread, void (*function)(void*), void* argument) const {
  call_from(top(thread), function, argument);
}

}  // namespace hiroba::openmp
