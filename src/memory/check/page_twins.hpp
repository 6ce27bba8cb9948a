// Lists of pages, and copies of earlier contents of pages, in memory files, for option check. Nothing allocates after
// create(), so signal handlers may use all of it.
//
// Owner: AccessRecorder, Piece. Not thread-safe.
#pragma once

#include <cstring>
#include <span>

#include "memory/array.hpp"
#include "memory/sparse.hpp"

namespace hiroba {

class PageRuns {
 public:
  static constexpr uint64_t most = uint64_t{1} << 20;  // further ones are left out

  Status create(const char* name) { return file_.create(name, most * sizeof(PageRun)); }
  void clear() { count_ = 0; }
  void add(uint64_t page) {
    PageRun* const end = file_.as<PageRun>() + count_;
    if (count_ > 0 && end[-1].first + end[-1].pages == page) ++end[-1].pages;
    else if (!full()) *end = {page, 1}, ++count_;
  }
  uint64_t count() const { return count_; }
  bool full() const { return count_ == most; }
  std::span<const PageRun> all() const { return {file_.as<PageRun>(), count_}; }

 private:
  SparseFile file_;
  uint64_t count_ = 0;
};

class PageTwins {
 public:
  Status create(const Layout& layout) {
    HIROBA_TRY(runs_.create("check: pages with twins"));
    HIROBA_TRY(since_.create("check: when pages got twins", layout.pages() * sizeof(uint64_t)));
    return memory_.create("check: twins", layout.space);
  }
  void clear() { runs_.clear(), ++generation_; }
  // Copies the page, of the address range that begins at `base`, unless it has a twin.
  void keep(const char* base, uint64_t page) {
    uint64_t& since = since_.as<uint64_t>()[page];
    if (since == generation_ || runs_.full()) return;
    since = generation_;
    std::memcpy(memory_.data() + (page << page_shift), base + (page << page_shift), page_bytes);
    runs_.add(page);
  }
  std::span<const PageRun> runs() const { return runs_.all(); }
  const char* of(uint64_t page) const { return memory_.data() + (page << page_shift); }

 private:
  PageRuns runs_;
  SparseFile since_, memory_;  // per page, the generation that has a twin of it; the twins
  uint64_t generation_ = 1;
};

}  // namespace hiroba
