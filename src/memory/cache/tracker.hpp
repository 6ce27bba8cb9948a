// Detects this process's accesses to copies of other nodes' pages: the small interface that hides how the kernel's ways
// differ. README.md in src/memory has the two ways and their races.
//
// A "view" is the range of addresses that the program uses; its bytes come from the cache file at the same offset. An
// absent page faults (SIGBUS or SIGSEGV in the accessing thread); install() makes it accessible; collect() finds writes
// to it. To take pages away without losing a write: freeze, collect, use content(), discard.
//
// Everything but map() is safe in a signal handler and from many threads, on disjoint ranges.
#pragma once

#include <memory>

#include "base/status.hpp"
#include "base/tables/options.hpp"
#include "memory/space/uffd.hpp"
#include "memory/sparse.hpp"

namespace hiroba {

class Tracker {
 public:
  virtual ~Tracker() = default;

  virtual Status start() { return {}; }

  // Returns true if a twin must be kept from the installation of a page on; else the cache file is the twin.
  virtual bool twin_at_fetch() const = 0;

  virtual Status map(char* view, size_t bytes, uint64_t offset) = 0;
  virtual void install(char* view, size_t bytes) = 0;

  // Collects the pages written since install or the last collect, at most PageBits::pages.
  virtual void collect(char* view, size_t pages, PageBits& out) = 0;
  // Returns the address of the current bytes of a written page.
  virtual const char* content(const char* view) const = 0;

  // After freeze, no write reaches content(). `alone`: no other thread of this rank touches the range.
  virtual void freeze(char* view, size_t bytes, bool alone) = 0;
  // After discard, the pages are absent. Requires freeze before.
  virtual void discard(char* view, size_t bytes, bool alone) = 0;
  // Marks pages as unwritten, after their changes have been taken; only when `alone`.
  virtual void drop_private(char* view, size_t bytes) = 0;

  // Makes writes to visible pages fault, so that no search for them is needed; returns false if it cannot.
  virtual bool close(char*, size_t) { return false; }
  virtual void open(char*, size_t) {}
};

// The parts of every tracker. base: the address of offset 0; extent: of the views; cache: the copies, at the same
// offsets.
struct TrackerParts {
  char* base;
  uint64_t extent;
  SparseFile& cache;
  Userfaultfd& uffd;  // may be closed
  Pagemap& pagemap;
};

std::unique_ptr<Tracker> make_shared_tracker(const TrackerParts& parts);   // twin at fetch
std::unique_ptr<Tracker> make_private_tracker(const TrackerParts& parts);  // twin at the first write

}  // namespace hiroba
