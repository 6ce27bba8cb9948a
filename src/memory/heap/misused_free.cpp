// Refuses free() and realloc() of shared memory. The C library would take it for its own, and end the program without
// an explanation or continue with a damaged heap. Other addresses cost two comparisons. C++'s delete calls free(), too.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

#include "base/log.hpp"
#include "base/tables/phrases.hpp"
#include "memory/parts.hpp"
#include "memory/space/faults.hpp"

namespace hiroba {

namespace {

void refuse(const char* call, const void* address) {
  const MemoryParts* const parts = served_memory();
  if (parts == nullptr || !parts->space.contains(address)) return;
  const Array* const array = parts->arrays.at(address);
  if (array != nullptr && array->is_heap)
    end_job(1, "%s(%p) of an object of %s; %s frees it, and %s changes its size", call, address, array->name,
            array->freed_by, phrases().resize_object);
  const std::string what = array != nullptr ? array->name : parts->arrays.explain(address);
  end_job(1, "%s(%p) of shared memory (%s); %s%s", call, address, what.c_str(),
          call[0] != 'f'     ? ""
          : array != nullptr ? array->freed_by
                             : "the call of its allocator",
          call[0] != 'f' ? "an array keeps its size: allocate another with all ranks, and copy"
                         : " gives an array back, which all ranks call");
}

// Returns the allocator's own function. The search for it may call this in the same thread: an object freed then is
// lost.
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

// A failed dlopen frees its message: a search in that call would free it once more.
__attribute__((constructor)) void search_early() {
  (void)next_of<void(void*)>("free");
  (void)next_of<void*(void*, size_t)>("realloc");
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
