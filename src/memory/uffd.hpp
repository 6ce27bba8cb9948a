// The kernel's ways to see accesses: userfaultfd, PAGEMAP_SCAN and /proc/self/pagemap, as thin wrappers that work for
// ordinary users. Everything but the open calls is safe in a signal handler and from many threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"

namespace hiroba {

// Pages of one chunk, as bits.
struct PageBits {
  static constexpr size_t pages = 512;
  uint64_t word[pages / 64] = {};
  void set(size_t page) { word[page / 64] |= uint64_t{1} << page % 64; }
  void clear(size_t page) { word[page / 64] &= ~(uint64_t{1} << page % 64); }
  bool test(size_t page) const { return (word[page / 64] >> page % 64 & 1) != 0; }

  // visit(first, count) for what is set side by side among the first `end`.
  template <typename Visit>
  void for_each_run(size_t end, const Visit& visit) const {
    for (size_t p = 0, n = 0; p < end; p += n + 1, n = 0) {
      while (p + n < end && test(p + n)) ++n;
      if (n > 0) visit(p, n);
    }
  }
};

class Userfaultfd {
 public:
  enum Mode : uint64_t { missing = 1, write_protect = 2, minor = 4 };

  Userfaultfd() = default;
  Userfaultfd(const Userfaultfd&) = delete;
  Userfaultfd& operator=(const Userfaultfd&) = delete;
  ~Userfaultfd();

  // Faults become SIGBUS in the thread that makes them. With track_writes, write-protected pages are unprotected by
  // the kernel at the first write, and PagemapScan finds them (Linux 6.7).
  Status open(bool track_writes);
  bool is_open() const { return fd_ >= 0; }
  bool tracks_writes() const { return tracks_writes_; }

  Status watch(void* address, size_t bytes, uint64_t modes);
  // Makes pages of the underlying file visible at their addresses.
  void install(void* address, size_t bytes, bool protect);
  // The same for whole huge pages, by no longer watching them: the kernel maps them at once, and they must be watched
  // again before they become absent. Pages that are not in the file would read as zero.
  void install_unwatched(void* address, size_t bytes);
  // Starts tracking writes.
  void protect(void* address, size_t bytes);

 private:
  int fd_ = -1;
  bool tracks_writes_ = false;
};

class Pagemap {
 public:
  Pagemap() = default;
  Pagemap(const Pagemap&) = delete;
  Pagemap& operator=(const Pagemap&) = delete;
  ~Pagemap();
  Status open();

  // Pages written since Userfaultfd::protect or the last call; protects them again. Absent pages that were never
  // protected count as written.
  void written(void* address, size_t pages, PageBits& out) const;
  // Pages of a private mapping that the kernel has copied because they were written.
  void copied(void* address, size_t pages, PageBits& out) const;

 private:
  int fd_ = -1;
};

}  // namespace hiroba
