// The accesses of a job's ranks to shared arrays between two barriers, with option check, in memory that all ranks map,
// so that each can compare its accesses with the others'. README.md in src/memory says how it is filled and used.
//
//   a word per page     the ranks that have touched it in this epoch (PageWord)
//   a part per rank     its records and its synchronisations, in order
//
// Owner: RaceChecker. A rank writes its own part, also in its fault handler; others read it between two barriers only,
// while no rank writes. All ranks change page words, by compare and swap.
#pragma once

#include <atomic>
#include <cstdint>

#include "memory/layout.hpp"

namespace hiroba {

// One access whose bytes are known exactly.
struct AccessRecord {
  // A free of an object writes all of it.
  enum Kind : uint16_t { read = 1, write = 2, atomic = 4, frees = 8, transaction = 16 };
  uint64_t address;  // an offset from the start of the address range
  uint16_t bytes, kind;
  uint32_t segment;   // synchronisations of the rank before it, in this epoch
  const void* place;  // in the rank's code; for a free its text, "main.c:12"
  uint64_t end() const { return address + bytes; }
  uint64_t page() const { return address >> page_shift; }
  bool writes() const { return (kind & write) != 0; }
  bool in_transaction() const { return (kind & transaction) != 0; }
};

// An event that may order accesses of different ranks within an epoch. `any`: an atomic or a sync, whose order is not
// known.
struct SyncEvent {
  // Transactions are turns of a lock of their own, whose tickets are their order. Looks at a word, and changes of it,
  // are those of a lock whose tickets are the time.
  static constexpr uint32_t transactions = UINT32_MAX, words = uint32_t{1} << 31;
  enum Kind : uint32_t { acquire, release, any };
  Kind kind;
  uint32_t lock;
  uint64_t ticket;
  bool is_of_word() const { return lock >= words && lock != transactions; }
};

struct RankLog {
  static constexpr uint64_t most_records = uint64_t{1} << 20, most_events = uint64_t{1} << 16;
  uint64_t records, events;
  uint64_t own_first, own_end;  // pages of this rank's open parts that it watches
  bool too_many_events;
  bool heap_left;  // no longer watched: this rank has used too many pages far apart
  bool blind;      // some of this rank's accesses on the heap are not recorded, or not all are of one object
  SyncEvent event[most_events];
  AccessRecord record[most_records];
};

// The ranks that have touched a page in an epoch, in a word.
struct PageWord {
  static constexpr uint64_t many = 0xffff;  // several ranks; else the rank + 1, or 0 for none
  uint64_t writer : 16, reader : 16, suspect : 1, epoch : 31;

  // Returns true if a rank has written a page that another rank has touched.
  bool conflict() const { return writer != 0 && (writer == many || (reader != 0 && reader != writer)); }
};
static_assert(sizeof(PageWord) == 8);

class AccessLog {
 public:
  static uint64_t bytes(const Layout& layout) {
    return layout.pages() * sizeof(PageWord) + static_cast<uint64_t>(layout.nranks) * sizeof(RankLog);
  }
  void start(char* memory, const Layout& layout) { memory_ = memory, layout_ = layout; }

  RankLog& of(int rank) const { return reinterpret_cast<RankLog*>(memory_ + layout_.pages() * sizeof(PageWord))[rank]; }
  bool any(bool RankLog::* of_rank) const {
    bool found = false;
    for (int r = 0; r < layout_.nranks; ++r) found = found || of(r).*of_rank;
    return found;
  }
  PageWord page(uint64_t page) const { return word(page).load(std::memory_order_relaxed); }

  // Records that a rank touches a page; returns the page's new word. A page stays suspect once two ranks have
  // conflicted on it.
  PageWord touch(uint64_t number, uint64_t epoch, int rank, bool writes) const {
    const auto word = this->word(number);
    PageWord old = word.load(std::memory_order_relaxed), next;
    do {
      next = old;
      if (next.epoch != epoch) next.writer = next.reader = 0, next.epoch = epoch & 0x7fffffff;
      const uint64_t self = static_cast<uint64_t>(rank) + 1;
      if (writes) next.writer = next.writer == 0 || next.writer == self ? self : PageWord::many;
      else next.reader = next.reader == 0 || next.reader == self ? self : PageWord::many;
      if (next.conflict()) next.suspect = 1;
    } while (!word.compare_exchange_weak(old, next, std::memory_order_relaxed));
    return next;
  }
  // Records that other ranks' changes of the page cannot be distinguished from this one's in this epoch.
  void blur(uint64_t number, uint64_t epoch) const {
    const auto word = this->word(number);
    PageWord old = word.load(std::memory_order_relaxed), next;
    do {
      next = old;
      if (next.epoch != epoch) next.reader = 0, next.epoch = epoch & 0x7fffffff;
      next.writer = PageWord::many;
    } while (!word.compare_exchange_weak(old, next, std::memory_order_relaxed));
  }

 private:
  std::atomic_ref<PageWord> word(uint64_t page) const {
    return std::atomic_ref<PageWord>(reinterpret_cast<PageWord*>(memory_)[page]);
  }
  char* memory_ = nullptr;
  Layout layout_;
};

}  // namespace hiroba
