// Tracks this rank's writes to pages of this node of which other nodes have copies: the other half of the write
// notices. README.md, "Home pages", has the protocol and why no write is missed.
//
// Pages that no other node has copied are not tracked and cost nothing. Threads: one at a time; remove() is collective.
#pragma once

#include <span>
#include <vector>

#include "memory/array_table.hpp"
#include "memory/notices/notices.hpp"
#include "memory/notices/quiet_pages.hpp"
#include "memory/notices/sharers.hpp"
#include "memory/space/uffd.hpp"

namespace hiroba {

class HomeWrites {
 public:
  struct Config {
    Layout layout;
    Job job;
    char* base = nullptr;
    ArrayTable* arrays = nullptr;
    Userfaultfd* uffd = nullptr;  // if it does not track writes, written home pages are not known
    Pagemap* pagemap = nullptr;
    Sharers* sharers = nullptr;
  };
  Status start(const Config& config);

  // Returns whether another node may have copies of this node's pages.
  bool any_copied() const { return config_.sharers->count() != 0; }

  // For the fault handler, and for calls of the system.
  QuietPages& quiet() { return quiet_; }

  bool exact() const { return config_.uffd->tracks_writes(); }

  // Stops tracking pages, in order, whose home is not, or not yet, on this node.
  void remove(std::span<const PageRun> runs);

  // Adds the pages written since the last call, of which other nodes may have copies. Returns false if they are not
  // known and there may be some. `for_all`: all ranks will have read the notices, and dropped their copies of these
  // pages, before any of them goes on; no other thread of this rank touches shared memory.
  bool collect(NoticeLog& notices, bool for_all);

 private:
  // Sorted and disjoint runs of tracked pages; some that are not tracked may lie between.
  struct Pages {
    uint8_t kind;  // the flags of a byte that tell its pages from the others': again or none
    std::vector<PageRun> runs;
    bool changed = false;                 // not tidy
    std::vector<PageRun> looked_at = {};  // those that are not closed
  };
  void read_registrations(NoticeLog& notices);
  void read_directory(NoticeLog& notices);
  void track(uint64_t page, NoticeLog& notices);
  void look(Pages& pages, std::span<const PageRun> runs, bool for_all, NoticeLog& notices);
  void look(Pages& pages, bool for_all, NoticeLog& notices);
  void close_quiet(NoticeLog& notices);
  void find(std::span<const PageRun> runs, bool protect);
  void find_in(const PageRun& run, bool protect);
  void find_by_look(std::span<const PageRun> runs, bool protect);
  void note(Pages& pages, const PageRun& found, bool for_all, NoticeLog& notices);
  void note_again(uint64_t page, unsigned flags);
  void end_noted();
  void end_copies(uint64_t page, bool is_protected);
  void end_protection();
  void tidy(Pages& pages) const;
  bool is_tracked(uint64_t page) const { return (config_.sharers->flags(page) & Sharers::tracked) != 0; }
  bool belongs(uint64_t page, const Pages& pages) const {
    return is_tracked(page) && (config_.sharers->flags(page) & Sharers::again) == pages.kind;
  }
  bool home_here(uint64_t page) const;

  Config config_;
  uint64_t registrations_seen_ = 0;
  Pages once_{0, {}}, again_{Sharers::again, {}};  // the latter stay tracked when they are written
  std::vector<PageRun> found_, ended_;  // of one call: written pages, and protected ones that are not tracked any more
  std::vector<PageRun> noted_;          // found by releases since the notices were last cleared
  size_t noted_merged_ = 0;             // their number when they were last merged
  uint64_t noted_in_ = 0;               // NoticeLog::clears() of these notices
  QuietPages quiet_;
  std::vector<PageRun> recent_;     // found written, or copied, since pages were last closed
  size_t recent_merged_ = 0;        // their number when they were last merged
  uint32_t barriers_to_close_ = 0;  // until pages are closed
};

}  // namespace hiroba
