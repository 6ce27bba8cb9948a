// The memory of the job's nodes as a transport accesses it: a second mapping of the memory files, whose accesses are
// never tracked or refused. Offsets are those of the contract (transport.hpp). Thread-safe except start, stop, attach
// and detach.
#pragma once

#include <sys/mman.h>

#include <cassert>
#include <cerrno>

#include "base/addresses.hpp"
#include "base/limits.hpp"
#include "base/status.hpp"

namespace hiroba {

class Window {
 public:
  Status start(uint64_t extent) {
    base_ = reserve_addresses(extent);
    extent_ = extent;
    if (base_ != nullptr) return {};
    return Status::error("cannot reserve %lu GiB of addresses for the window (%s)", extent >> 30,
                         explain_error(errno).c_str());
  }

  void stop() {
    if (base_ != nullptr) munmap(base_, extent_);
    base_ = nullptr;
  }

  Status attach(uint64_t offset, uint64_t bytes, int fd) {
    void* const at =
        mmap(base_ + offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, static_cast<off_t>(offset));
    if (at != MAP_FAILED) return madvise(at, bytes, MADV_DONTDUMP), Status();
    return Status::error("cannot map %lu bytes of shared memory (%s)%s", bytes, explain_error(errno).c_str(),
                         errno == ENOMEM ? ": distribute arrays in fewer pieces" : "");
  }

  void detach(uint64_t offset, uint64_t bytes) {
    void* const at =
        mmap(base_ + offset, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    assert(at != MAP_FAILED);
    (void)at;
  }

  // Reads through the window create page-table entries that count as this process's memory.
  void release_mapping(uint64_t offset, uint64_t bytes) { madvise(base_ + offset, bytes, MADV_DONTNEED); }

  char* at(uint64_t offset) const { return base_ + offset; }

 private:
  char* base_ = nullptr;
  uint64_t extent_ = 0;
};

}  // namespace hiroba
