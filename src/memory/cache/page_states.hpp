// The state of this rank's copy of each page of the address range, one byte per page. README.md has the states and
// transitions.
//
// busy is a lock on one page: the thread that moves a page to busy has it alone until it stores another state. A holder
// of a busy page takes no other lock that a waiter for a busy page may hold (README.md, "Locks").
#pragma once

#include <atomic>
#include <cstdint>

#include "memory/layout.hpp"
#include "memory/sparse.hpp"

namespace hiroba {

enum class PageState : uint8_t { absent = 0, stale = 1, valid = 2, busy = 3 };

class PageStates {
 public:
  static constexpr uint8_t registered = 4;  // of a copy: the home's node tracks writes to the page
  static constexpr uint8_t active = 8;      // of a copy: this rank has written it since it was refreshed
  static constexpr uint8_t guessed = 16;    // fetched by readahead or on trial, and not known to be used
  static constexpr uint8_t in_view = 32;    // stale, but still in the view
  static constexpr uint8_t copied = 64;     // the view holds a private copy, because this rank has written the page
  static constexpr uint8_t replica = 128;  // in the view, filled by a floor above (replicas.hpp); no thread may take it

  Status create(uint64_t pages) { return file_.create("page states", pages); }

  PageState state(uint64_t page) const { return static_cast<PageState>(at(page).load(std::memory_order_acquire) & 3); }

  // Takes the page if it is in state `from`, and no replica.
  bool take(uint64_t page, PageState from) {
    uint8_t old = at(page).load(std::memory_order_relaxed);
    while ((old & (3 | replica)) == static_cast<uint8_t>(from))
      if (at(page).compare_exchange_weak(old, static_cast<uint8_t>(old | 3), std::memory_order_acquire)) return true;
    return false;
  }

  // Ends busy.
  void release(uint64_t page, PageState to) {
    const auto clear = static_cast<uint8_t>(~(3 & ~static_cast<unsigned>(to)));
    at(page).fetch_and(clear, std::memory_order_release);
  }

  bool flag(uint64_t page, uint8_t flag) const { return (at(page).load(std::memory_order_relaxed) & flag) != 0; }
  void set_flag(uint64_t page, uint8_t flag) {
    if (!this->flag(page, flag)) at(page).fetch_or(flag, std::memory_order_relaxed);
  }

  void clear_flag(uint64_t page, uint8_t flag) {
    if (this->flag(page, flag)) at(page).fetch_and(static_cast<uint8_t>(~flag), std::memory_order_relaxed);
  }

  // Clears pages that no array has any more, or that no thread uses.
  void reset(uint64_t page, uint64_t pages) { file_.punch(page, pages); }

 private:
  std::atomic<uint8_t>& at(uint64_t page) const { return file_.as<std::atomic<uint8_t>>()[page]; }
  SparseFile file_;
};

}  // namespace hiroba
