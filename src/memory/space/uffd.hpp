// Wraps the kernel's ways to detect accesses, userfaultfd, PAGEMAP_SCAN and /proc/self/pagemap, for ordinary users.
// Everything but the open calls is safe in a signal handler and from many threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"

namespace hiroba {

// The pages of one chunk, as bits.
struct PageBits {
  static constexpr size_t pages = 512;
  uint64_t word[pages / 64] = {};
  void set(size_t page) { word[page / 64] |= uint64_t{1} << page % 64; }
  void clear(size_t page) { word[page / 64] &= ~(uint64_t{1} << page % 64); }
  bool test(size_t page) const { return (word[page / 64] >> page % 64 & 1) != 0; }

  // Calls visit(first, count) for the runs of set bits among the first `end`.
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

  // Makes faults SIGBUS in the faulting thread. With track_writes the kernel unprotects write-protected pages at the
  // first write, and Pagemap finds them (Linux 6.7).
  Status open(bool track_writes);
  // Opens it so that writes to protected pages are faults, too.
  Status open_for_writes();
  // Uses the descriptor of one that another process has opened with track_writes for its memory, and owns it.
  void adopt(int descriptor) { fd_ = descriptor, tracks_writes_ = true; }
  int descriptor() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  bool tracks_writes() const { return is_open() && tracks_writes_; }
  bool faults_on_writes() const { return is_open() && faults_on_writes_; }

  Status watch(void* address, size_t bytes, uint64_t modes);
  // Makes pages of the underlying file visible at their addresses.
  void install(void* address, size_t bytes, bool protect);
  // Makes whole huge pages visible by no longer watching them: the kernel maps them at once, and they must be watched
  // again before they become absent. Pages that are not in the file would read as zero.
  void install_unwatched(void* address, size_t bytes);
  // Starts tracking writes, or makes them faults; false if not all of the range is watched.
  bool protect(void* address, size_t bytes) { return set_protection(address, bytes, true); }
  void unprotect(void* address, size_t bytes) { set_protection(address, bytes, false); }

 private:
  Status open_with(uint64_t features, const char* otherwise);
  bool set_protection(void* address, size_t bytes, bool on);

  int fd_ = -1;
  bool tracks_writes_ = false, faults_on_writes_ = false;
};

class Pagemap {
 public:
  Pagemap() = default;
  Pagemap(const Pagemap&) = delete;
  Pagemap& operator=(const Pagemap&) = delete;
  ~Pagemap();
  Status open();

  // Finds pages written since Userfaultfd::protect or the last call, and protects them again. Absent pages that were
  // never protected count as written.
  void written(void* address, size_t pages, PageBits& out) const;
  // Finds them in any number of pages, and protects them again or not: calls visit(first, count), counted from the
  // address.
  template <typename Visit>
  void written_runs(void* address, size_t pages, bool protect, const Visit& visit) const;
  // Finds pages of a private mapping that the kernel has copied because they were written.
  void copied(void* address, size_t pages, PageBits& out) const;

 private:
  static constexpr size_t most_runs = 64;
  struct Run {
    size_t first, count;
  };
  // Scans from page `next` on and advances it; returns the number of runs.
  size_t scan(void* address, size_t pages, bool protect, size_t& next, Run* out) const;

  int fd_ = -1;
};

template <typename Visit>
void Pagemap::written_runs(void* address, size_t pages, bool protect, const Visit& visit) const {
  Run runs[most_runs];
  for (size_t next = 0; next < pages;)
    for (size_t i = 0, found = scan(address, pages, protect, next, runs); i < found; ++i)
      visit(runs[i].first, runs[i].count);
}

}  // namespace hiroba
