// Tracks this rank's writes to pages of this node of which other nodes have copies: the other half of the write
// notices. README.md, "Home pages", has the protocol and why no write is missed.
//
// Pages that no other node has copied are not tracked and cost nothing. Threads: one at a time; remove() is collective.
#pragma once

#include <set>
#include <span>
#include <vector>

#include "memory/array_table.hpp"
#include "memory/cache/notices.hpp"
#include "memory/cache/page_states.hpp"
#include "memory/space/uffd.hpp"

namespace hiroba {

class HomeWrites {
 public:
  // `uffd` tracks writes, or is closed: then the written home pages are not known, and exact() is false.
  void start(char* base, const Layout& layout, const Job& job, ArrayTable* arrays, Userfaultfd* uffd, Pagemap* pagemap,
             PageStates* states);

  // Returns whether another node may have copies of this node's pages.
  bool any_copied() const { return registrations() != 0; }

  bool exact() const { return uffd_ != nullptr; }

  // Stops tracking pages, in order, whose home is not, or not yet, on this node.
  void remove(std::span<const PageRun> runs);

  // Adds the pages written since the last call. Returns false if they are not known and there may be some.
  bool collect(NoticeLog& notices);

 private:
  uint64_t registrations() const;
  void protect_new(NoticeLog& notices);
  void read_registrations(uint64_t index, NoticeLog& notices);
  void read_directory(NoticeLog& notices);
  void protect(uint64_t first, uint64_t pages, NoticeLog& notices);
  void watch_chunk(uint64_t page);
  void merge_protected();
  bool home_here(uint64_t page) const;
  template <typename Visit>
  void for_each_home_run(const Array& array, const Visit& visit) const;

  char* base_ = nullptr;
  Layout layout_;
  Job job_;
  ArrayTable* arrays_ = nullptr;
  Userfaultfd* uffd_ = nullptr;
  Pagemap* pagemap_ = nullptr;
  PageStates* states_ = nullptr;
  uint64_t registrations_seen_ = 0;
  std::vector<PageRun> protected_;  // sorted, disjoint
  std::set<uint64_t> watched_;      // chunks of PageBits::pages that userfaultfd watches
};

}  // namespace hiroba
