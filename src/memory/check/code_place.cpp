#include "memory/check/code_place.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/debug/interpreter.hpp"

namespace hiroba {

namespace {

struct CodeRange {
  uintptr_t begin, end;
  bool has(const void* at) const {
    const auto address = reinterpret_cast<uintptr_t>(at);
    return address >= begin && address < end;
  }
};

// The code of the C library, of this library, and of OpenMP's runtime; it does not change while the process lives.
CodeRange system_code[4];
size_t system_ranges = 0;

bool is_system(const void* at) {
  return std::any_of(system_code, system_code + system_ranges, [at](const CodeRange& range) { return range.has(at); });
}

// Adds the executable segments of the library that has this address; a static program's library is the program.
int add_if_it_has(dl_phdr_info* info, size_t, void* address) {
  CodeRange range = {UINTPTR_MAX, 0};
  bool has = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    range.begin = std::min<uintptr_t>(range.begin, info->dlpi_addr + segment.p_vaddr);
    range.end = std::max<uintptr_t>(range.end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
    has = has || CodeRange{info->dlpi_addr + segment.p_vaddr, range.end}.has(address);
  }
  has = has && info->dlpi_name != nullptr && *info->dlpi_name != '\0';  // the program has no name
  if (has && system_ranges < std::size(system_code)) system_code[system_ranges++] = range;
  return has ? 1 : 0;
}

struct FrameWalk {
  int frames = 0;  // the first one is the caller of the walk
  const void* place = nullptr;
};

// Ends the walk at the first frame of the program: those of its callers may be closed. A return address belongs to the
// instruction before it.
_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* argument) {
  FrameWalk& walk = *static_cast<FrameWalk*>(argument);
  const auto* const code = reinterpret_cast<const char*>(_Unwind_GetIP(frame));  // NOLINT(performance-no-int-to-ptr)
  if (walk.frames++ == 0 || is_system(code)) return walk.frames < 32 ? _URC_NO_REASON : _URC_NORMAL_STOP;
  walk.place = code - 1;
  return _URC_NORMAL_STOP;
}

// memcpy and memmove are one function of at most this size; they read the given bytes and no more.
constexpr uintptr_t most_copy_code = 2048;
CodeRange copy_code;

}  // namespace

void learn_system_code() {
  system_ranges = 0;
  void* const copy = dlsym(RTLD_DEFAULT, "memmove");
  copy_code = {reinterpret_cast<uintptr_t>(copy), reinterpret_cast<uintptr_t>(copy) + most_copy_code};
  dl_iterate_phdr(add_if_it_has, copy);
  dl_iterate_phdr(add_if_it_has, reinterpret_cast<void*>(&learn_system_code));
  if (void* const openmp = dlsym(RTLD_DEFAULT, "GOMP_parallel"); openmp != nullptr)
    dl_iterate_phdr(add_if_it_has, openmp);
}

const void* calling_place() {
  if (const char* const line = python_line(); line != nullptr) return line;
  FrameWalk walk;
  _Unwind_Backtrace(look_at_frame, &walk);
  return walk.place;
}

CodePlace code_place(const ucontext_t& context) {
  const void* const at = reinterpret_cast<const void*>(context.uc_mcontext.gregs[REG_RIP]);
  const auto touched = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_CR2]);
  if (const char* const line = python_line_of(at, touched); line != nullptr)
    return {line, !is_system(at) || copy_code.has(at), true};
  if (!is_system(at)) return {at, true, true};
  const void* const caller = calling_place();
  return {caller == nullptr ? at : caller, copy_code.has(at), caller != nullptr};
}

}  // namespace hiroba
