// malloc and its kin: what the program allocates is shared. What the runtime, and libraries before the start, allocate
// is the rank's own, by the C library.
#include <malloc.h>
#include <sys/auxv.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "openmp/openmp.hpp"
#include "process/process.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
int _IO_file_doallocate(FILE*);
}

using hiroba::in_program;
using hiroba::instance;
using hiroba::openmp::InRuntime;
using hiroba::openmp::Objects;

namespace {

const uintptr_t dynamic_linker = getauxval(AT_BASE);

// Returns true for buffers of files, and for the dynamic linker, which are the rank's own: they are passed to the
// system by calls of their own, in which no page can be brought.
bool is_for_system(const void* caller) {
  constexpr uintptr_t length = 512, linker_bytes = 256 << 10;  // of the function, and the linker's code, at most
  const auto at = reinterpret_cast<uintptr_t>(caller);
  return at - reinterpret_cast<uintptr_t>(_IO_file_doallocate) < length || at - dynamic_linker < linker_bytes;
}

void* allocate(size_t bytes, size_t alignment, bool zeroed) {
  const InRuntime runtime;
  void* const object = instance<Objects>().allocate(bytes, alignment, zeroed);
  if (object == nullptr) errno = ENOMEM;
  return object;
}

}  // namespace

EXPORT void* malloc(size_t bytes) {
  if (!in_program || is_for_system(__builtin_return_address(0))) return __libc_malloc(bytes);
  return allocate(bytes, 1, false);
}

EXPORT void* calloc(size_t n, size_t bytes) {
  if (!in_program || is_for_system(__builtin_return_address(0))) return __libc_calloc(n, bytes);
  size_t all = 0;
  if (!__builtin_mul_overflow(n, bytes, &all)) return allocate(all, 1, true);
  errno = ENOMEM;
  return nullptr;
}

EXPORT void free(void* object) {
  if (object == nullptr) return;
  if (!instance<Objects>().has(object)) return __libc_free(object);
  const InRuntime runtime;
  instance<Objects>().free(object);
}

// An object from before the start stays the C library's.
EXPORT void* realloc(void* object, size_t bytes) {
  if (object == nullptr) return malloc(bytes);
  if (!instance<Objects>().has(object)) return __libc_realloc(object, bytes);
  if (bytes == 0) return free(object), nullptr;
  const size_t before = instance<Objects>().size(object);
  // Option check looks at the bytes after what was asked for.
  if (bytes <= before && bytes > before / 2 && !hiroba::openmp::words::checked) return object;
  void* const next = allocate(bytes, 1, false);
  if (next == nullptr) return nullptr;
  std::memcpy(next, object, before < bytes ? before : bytes);
  free(object);
  return next;
}

EXPORT void* reallocarray(void* object, size_t n, size_t bytes) {
  size_t all = 0;
  if (!__builtin_mul_overflow(n, bytes, &all)) return realloc(object, all);
  errno = ENOMEM;
  return nullptr;
}

EXPORT size_t malloc_usable_size(void* object) {
  if (object == nullptr) return 0;
  return instance<Objects>().has(object) ? instance<Objects>().size(object) : HIROBA_REAL(malloc_usable_size)(object);
}

EXPORT void* memalign(size_t alignment, size_t bytes) {
  return in_program ? allocate(bytes, alignment, false) : __libc_memalign(alignment, bytes);
}

EXPORT void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

EXPORT int posix_memalign(void** out, size_t alignment, size_t bytes) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  void* const object = memalign(alignment, bytes);
  if (object == nullptr) return ENOMEM;
  *out = object;
  return 0;
}

EXPORT void* valloc(size_t bytes) { return memalign(4096, bytes); }
