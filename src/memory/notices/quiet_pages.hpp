// Home pages of which others have copies and which nobody writes: they are closed to writes (PROT_READ), so that nobody
// has to look whether they were written. The first write faults, and opens the pages around it. README.md, "Home
// pages".
//
// The kernel writes to no closed page on a program's behalf, so only arrays are closed whose bytes calls of the system
// get by SystemAccess alone (Array::closable).
//
// Owner: HomeWrites. Threads: open() is for any thread, also in the fault handler; the rest is for one at a time.
// Allocates nothing in open().
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "base/wait.hpp"
#include "memory/array_table.hpp"
#include "memory/sparse.hpp"

namespace hiroba {

class QuietPages {
 public:
  Status start(char* base, uint64_t pages);

  // Closes them, as far as there is room. Other threads of the rank may write to them meanwhile: what was written
  // before this returns has to be looked for.
  void close(std::span<const PageRun> runs);
  // Opens the page for writes, and the closed ones around it. Returns false if it was never closed, so that the access
  // has another reason.
  bool open(uint64_t page);
  void open(uint64_t first, uint64_t end);
  // The pages are mapped anew, or not at all.
  void forget(std::span<const PageRun> runs);
  // Returns the parts of the runs that are not closed.
  std::vector<PageRun> open_parts(std::span<const PageRun> runs) const;
  // Returns true if open() has opened any since the last call.
  bool take_opened() { return opened_.exchange(false); }

 private:
  // Mappings: a process may have some 65,000.
  static constexpr int most_closed = 4096;
  static constexpr uint64_t opened_around = 64;  // pages
  enum State : uint8_t { never_closed, was_closed, is_closed };

  std::atomic<uint8_t>& state(uint64_t page) const { return states_.as<std::atomic<uint8_t>>()[page]; }
  bool closed(uint64_t page) const { return state(page).load() == is_closed; }
  // Returns how many of the two pages beside these are closed.
  int neighbours(uint64_t first, uint64_t end) const { return (first > 0 && closed(first - 1)) + closed(end); }
  void protect(uint64_t first, uint64_t end, int access) const;

  char* base_ = nullptr;
  SparseFile states_;  // a byte for each page
  SignalSafeLock lock_;
  std::atomic<bool> opened_{false};
  int closed_ = 0;                        // runs
  uint64_t low_ = UINT64_MAX, high_ = 0;  // the pages that were ever closed lie between
};

}  // namespace hiroba
