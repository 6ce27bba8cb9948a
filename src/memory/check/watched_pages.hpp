// Part of AccessRecorder: which pages count, how the program may use them now, and where it goes through pages in
// order. Values in memory files and in this process; nothing allocates after create(). Not thread-safe.
#pragma once

#include <algorithm>

#include "memory/check/access_log.hpp"
#include "memory/sparse.hpp"

namespace hiroba {

// The pages of watched arrays; of a rank's own part of an array with `own_open` only those that it has said.
class WatchedPages {
 public:
  void start(const AccessLog* log, int rank) { log_ = log, rank_ = rank; }
  PageRun own() const { return own_; }
  void set_own(PageRun pages) {
    own_ = pages;
    RankLog& mine = log_->of(rank_);
    mine.own_first = pages.first, mine.own_end = pages.end();
  }

  bool has(const Array& array, uint64_t page) const {
    if (!array.watched) return false;
    return !array.own_open || array.home(page).rank != rank_ || (page >= own_.first && page < own_.end());
  }
  // Returns whether the rank with the page watches it, too.
  bool owner_has(const Array& array, uint64_t page) const {
    if (!array.own_open) return true;
    const RankLog& owner = log_->of(array.home(page).rank);
    return page >= owner.own_first && page < owner.own_end;
  }
  // Calls visit(first page, pages) for all that count of the array.
  template <typename Visit>
  void for_each_run(const Array& array, const Visit& visit) const {
    if (!array.watched) return;
    if (!array.own_open) return visit(array.first_page, array.end_page - array.first_page);
    array.for_each_run_of([this](int rank) { return rank != rank_; }, visit);
    if (own_.pages > 0 && own_.first >= array.first_page && own_.end() <= array.end_page) visit(own_.first, own_.pages);
  }

 private:
  const AccessLog* log_ = nullptr;
  int rank_ = 0;
  PageRun own_ = {};
};

struct PageUse {
  enum Open : uint8_t { closed, reading, writing };
  uint8_t open;
  uint16_t steps;
  uint32_t epoch;          // the epoch of the other fields
  const void* written_at;  // the write that has opened it
};

class PageUses {
 public:
  Status create(const Layout& layout) {
    return pages_.create("check: states of pages", layout.pages() * sizeof(PageUse));
  }
  void begin_epoch(uint64_t epoch) { epoch_ = static_cast<uint32_t>(epoch); }
  // Returns how it is used in this epoch, or with last() how it was last.
  PageUse& operator[](uint64_t page) {
    PageUse& out = last(page);
    if (out.epoch != epoch_) out.steps = 0, out.epoch = epoch_, out.written_at = nullptr;
    return out;
  }
  PageUse& last(uint64_t page) const { return pages_.as<PageUse>()[page]; }

 private:
  SparseFile pages_;
  uint32_t epoch_ = 0;
};

// Sequences of pages that the rank opens one after the other.
class PageStreams {
 public:
  struct Stream {
    uint64_t next, pages;
  };
  bool go_on_at(uint64_t page) const {
    return std::any_of(stream_, stream_ + most, [page](const Stream& s) { return s.next == page && s.pages > 0; });
  }
  // Returns the stream that goes on at this page; a new one replaces the oldest.
  Stream& at(uint64_t page) {
    Stream* const found = std::find_if(stream_, stream_ + most, [page](const Stream& s) { return s.next == page; });
    if (found != stream_ + most) return *found;
    Stream& fresh = stream_[turn_++ % most];
    fresh.pages = 0;
    return fresh;
  }

 private:
  static constexpr uint64_t most = 16;
  Stream stream_[most] = {};
  size_t turn_ = 0;
};

}  // namespace hiroba
