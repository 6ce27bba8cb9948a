// free() and realloc() of shared memory, which the C library would take for its own and end the program without a word
// of what is wrong, or go on with a damaged heap. Other addresses cost two comparisons. C++'s delete ends here, too.
#include <dlfcn.h>

#include <cstdlib>

#include "base/log.hpp"
#include "memory/memory.hpp"

namespace hiroba {

namespace {

void refuse(const char* call, const void* address) {
  const Memory* const memory = served_memory();
  if (memory == nullptr || !memory->contains(address)) return;
  Array* array = nullptr;
  const bool live = memory->find(address, array).ok();
  end_job(1, "%s(%p) of shared memory (%s); %s", call, address, live ? array->name : memory->explain(address).c_str(),
          call[0] == 'f' ? "sms_free gives an array back, which all ranks call"
                         : "an array keeps its size: allocate another with all ranks, and copy");
}

// The allocator's own. It may be called, by the search for itself, before it is known: what is freed then is lost.
template <typename Function>
Function* next_of(const char* name) {
  static Function* next = nullptr;
  static bool searching = false;
  if (next == nullptr && !searching) {
    searching = true;
    next = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  }
  return next;
}

}  // namespace

}  // namespace hiroba

extern "C" __attribute__((visibility("default"))) void free(void* address) noexcept {
  hiroba::refuse("free", address);
  if (auto* const next = hiroba::next_of<void(void*)>("free"); next != nullptr) next(address);
}

extern "C" __attribute__((visibility("default"))) void* realloc(void* address, size_t bytes) noexcept {
  hiroba::refuse("realloc", address);
  auto* const next = hiroba::next_of<void*(void*, size_t)>("realloc");
  return next != nullptr ? next(address, bytes) : nullptr;
}
