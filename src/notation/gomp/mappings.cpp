// mmap and its kin, as code of the program calls them: what it maps is shared. Libraries, and the runtime, map memory
// of the rank's own.
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cerrno>

#include "base/log.hpp"
#include "notation/gomp/calls.hpp"
#include "openmp/openmp.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

namespace {

int refuse(const char* call, const char* instead) {
  log_line("%s() fails in an OpenMP program over ranks, where its memory would be in this rank alone: %s", call,
           instead);
  errno = ENOSYS;
  return -1;
}

bool is_mapping(const void* at) { return in_program && instance<Mappings>().has(static_cast<const char*>(at)); }
bool is_object(const void* at) { return in_program && instance<Objects>().has(at); }

// Stacks of threads that the program starts by itself are the rank's own, as these threads are.
void* map(void* at, size_t bytes, int access, int flags, int descriptor, off_t offset) {
  if (!in_program || (flags & (MAP_STACK | MAP_GROWSDOWN)) != 0)
    return mmap(at, bytes, access, flags, descriptor, offset);
  return instance<Mappings>().map(at, bytes, access, flags, descriptor, offset);
}

int unmap(void* at, size_t bytes) {
  return is_mapping(at) ? instance<Mappings>().unmap(static_cast<char*>(at), bytes) : munmap(at, bytes);
}

int sync(void* at, size_t bytes, int flags) {
  return is_mapping(at) ? instance<Mappings>().sync(static_cast<char*>(at), bytes) : msync(at, bytes, flags);
}

int advise(void* at, size_t bytes, int advice) {
  if (is_mapping(at)) return instance<Mappings>().advise(static_cast<char*>(at), bytes, advice);
  return is_object(at) ? 0 : madvise(at, bytes, advice);
}

void* remap(void* at, size_t bytes, size_t wanted, int flags, void* to) {
  if (!is_mapping(at)) return mremap(at, bytes, wanted, flags, to);
  return instance<Mappings>().remap(static_cast<char*>(at), bytes, wanted, flags);
}

// The protection of shared pages is the runtime's. A program that is right does not access what it protects.
int protect(void* at, size_t bytes, int access) {
  if (!is_object(at)) return mprotect(at, bytes, access);
  return (access & PROT_EXEC) == 0 ? 0 : refuse("mprotect", "with PROT_EXEC memory must not be shared");
}

int lock(const void* at, size_t bytes) { return is_object(at) ? 0 : mlock(at, bytes); }
int unlock(const void* at, size_t bytes) { return is_object(at) ? 0 : munlock(at, bytes); }

void* attach(int segment, const void* at, int flags) {
  if (!in_program) return shmat(segment, at, flags);
  refuse("shmat", "allocate by malloc() or mmap()");
  return MAP_FAILED;
}

void* move_end(intptr_t bytes) {
  if (bytes == 0 || !in_program) return sbrk(bytes);
  refuse("sbrk", "allocate by malloc() or mmap()");
  return MAP_FAILED;
}

int set_end(void* end) { return in_program ? refuse("brk", "allocate by malloc() or mmap()") : brk(end); }

}  // namespace

void add_mapping_calls(std::vector<Import>& calls) {
  take(calls, "mmap", map), take(calls, "mmap64", map), take(calls, "munmap", unmap), take(calls, "msync", sync);
  take(calls, "madvise", advise), take(calls, "mremap", remap), take(calls, "mprotect", protect);
  take(calls, "mlock", lock), take(calls, "munlock", unlock);
  take(calls, "shmat", attach), take(calls, "sbrk", move_end), take(calls, "brk", set_end);
}

}  // namespace hiroba::openmp
