// Write notices: the pages that this rank has written since the last barrier, as runs, in this rank's notice log, which
// other ranks read. Two logs alternate, because a rank may fill the next epoch's log while others still read this one;
// the barrier between ensures that two suffice. Guarded by the caller (Cache's flush lock, or the barrier).
//
// Notices that are not yet in the node's log of intervals (interval_log.hpp) are pending. Only the barrier needs the
// others, and each page once, so they are merged when they become many.
#pragma once

#include <cstdint>
#include <span>

#include "base/record/record.hpp"
#include "memory/layout.hpp"
#include "memory/notices/near_nodes.hpp"

namespace hiroba {

// A run of pages in one word. The log that holds it uses the upper 8 bits.
struct Notice {
  uint64_t word;
  static Notice make(uint64_t page, uint64_t pages) { return {page << 24 | pages}; }  // pages below 2^32
  uint64_t page() const { return word >> 24 & 0xffffffff; }
  uint64_t pages() const { return word & most; }
  static constexpr uint64_t most = (1 << 24) - 1;
};

// Sorts runs of pages and merges those that overlap or touch; returns the number that is left.
size_t merge_notices(std::span<Notice> notices);

class NoticeLog {
 public:
  void start(char* base, const Layout& layout, const Job& job) {
    base_ = base, layout_ = layout, rank_ = job.rank, node_ = job.node, nnodes_ = job.nnodes;
  }

  // `node`: of the homes of these pages.
  void add(uint64_t page, uint64_t pages, int node) {
    if (recording()) note_written(page, pages);
    if (node != last_node_) nodes_ |= NearNodes::bit(node_, node, nnodes_), last_node_ = node;
    for (; pages > Notice::most; page += Notice::most, pages -= Notice::most) add(page, Notice::most, node);
    if (count_ > logged_) {
      Notice& last = entries()[count_ - 1];
      if (page >= last.page() && page + pages <= last.page() + last.pages()) return;
      if (page == last.page() + last.pages() && last.pages() + pages <= Notice::most) {
        last = Notice::make(last.page(), last.pages() + pages);
        return;
      }
    }
    if (count_ == limit_) merge();
    entries()[count_++] = Notice::make(page, pages);
  }

  uint64_t count() const { return count_; }
  uint32_t nodes() const { return nodes_; }  // the homes of all pages (NearNodes)
  // Ends the log for those who know its length roughly.
  void end() { entries()[count_] = {0}; }
  uint64_t parity() const { return parity_; }
  Notice operator[](uint64_t i) const { return entries()[i]; }
  std::span<Notice> pending() const { return {entries() + logged_, count_ - logged_}; }
  void logged() { logged_ = count_; }  // nothing is pending
  void clear() { count_ = logged_ = 0, nodes_ = 0, last_node_ = -1, ++clears_; }
  uint64_t clears() const { return clears_; }
  // Starts the next log, after the barrier that published this one.
  void turn() { parity_ ^= 1, clear(); }

 private:
  static constexpr uint64_t few = 65536, most = Layout::notice_log_bytes / sizeof(Notice) - 1;  // and the end

  Notice* entries() const { return reinterpret_cast<Notice*>(base_ + layout_.notice_log(rank_, parity_)); }
  void merge();

  char* base_ = nullptr;
  Layout layout_;
  int rank_ = 0, node_ = 0, nnodes_ = 1;
  uint64_t parity_ = 0, count_ = 0;
  uint64_t logged_ = 0;  // of the count_ notices
  uint64_t limit_ = few;
  uint32_t nodes_ = 0;
  int last_node_ = -1;  // that was added
  uint64_t clears_ = 0;
};

}  // namespace hiroba
