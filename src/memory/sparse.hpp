// Large zero-filled tables and files that use memory only where they are touched, whatever the machine's overcommit
// policy: they are memory files, which the kernel does not account for in advance.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/addresses.hpp"
#include "base/limits.hpp"
#include "base/status.hpp"

namespace hiroba {

// Gives the memory of a range of a file back to the system; it reads as zero afterwards.
inline void punch_hole(int fd, uint64_t offset, uint64_t bytes) {
  fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(bytes));
}

// A memory file and, if mapped, all of it at one address. Owner: the holder of the object.
class SparseFile {
 public:
  SparseFile() = default;
  SparseFile(const SparseFile&) = delete;
  SparseFile& operator=(const SparseFile&) = delete;
  ~SparseFile() {
    if (data_ != nullptr) munmap(data_, bytes_);
    if (fd_ >= 0) close(fd_);
  }

  Status create(const char* name, uint64_t bytes) {
    bytes_ = bytes;
    fd_ = memfd_create(name, MFD_CLOEXEC);
    if (fd_ < 0) return Status::error("cannot create a memory file for %s (%s)", name, explain_error(errno).c_str());
    HIROBA_TRY(size_file(fd_, bytes, name));
    char* const at = reserve_addresses(bytes);
    constexpr int flags = MAP_SHARED | MAP_FIXED;
    if (at == nullptr || mmap(at, bytes, PROT_READ | PROT_WRITE, flags, fd_, 0) == MAP_FAILED)
      return Status::error("cannot map %lu GiB of addresses for %s (%s); is the option space too large?", bytes >> 30,
                           name, explain_error(errno).c_str());
    madvise(at, bytes, MADV_DONTDUMP);
    data_ = at;
    return {};
  }

  int fd() const { return fd_; }
  char* data() const { return data_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

  void punch(uint64_t offset, uint64_t bytes) { punch_hole(fd_, offset, bytes); }

 private:
  int fd_ = -1;
  char* data_ = nullptr;
  uint64_t bytes_ = 0;
};

// Calls visit(begin, end) for the bytes of a file between `begin` and `end` that have memory.
template <typename Visit>
void for_each_data(int fd, uint64_t begin, uint64_t end, const Visit& visit) {
  while (begin < end) {
    const off_t data = lseek(fd, static_cast<off_t>(begin), SEEK_DATA);
    if (data < 0 || static_cast<uint64_t>(data) >= end) return;
    begin = std::min(end, static_cast<uint64_t>(lseek(fd, data, SEEK_HOLE)));
    visit(static_cast<uint64_t>(data), begin);
  }
}

}  // namespace hiroba
