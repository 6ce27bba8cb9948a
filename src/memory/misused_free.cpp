// free() and realloc() of shared memory, which the C library would take for its own and end the program without a word
// of what is wrong, or go on with a damaged heap. Other addresses cost two comparisons. C++'s delete ends here, too.
#include <dlfcn.h>

#include <atomic>
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

// The allocator's own. The search for it may call this itself, in the same thread: what is freed then is lost.
template <typename Function>
Function* next_of(const char* name) {
  static std::atomic<Function*> next = nullptr;
  static thread_local bool searching __attribute__((tls_model("initial-exec"))) = false;
  if (next.load(std::memory_order_relaxed) == nullptr && !searching) {
    searching = true;
    next.store(reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name)), std::memory_order_relaxed);
    searching = false;
  }
  return next.load(std::memory_order_relaxed);
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
