// Sends this rank's writes to its copies home, and drops, marks stale or evicts copies. README.md has the order of
// steps, and why nothing written is lost.
//
// Owner: Cache. Threads: any threads may call everything at once; `alone` says that no other thread of this rank
// touches shared memory during the call (barriers), which saves work. make_room() runs in the fault handler, too.
#pragma once

#include <span>
#include <vector>

#include "memory/cache/copies.hpp"
#include "memory/cache/diff.hpp"
#include "memory/cache/refreshes.hpp"

namespace hiroba {

class Fetches;
class HomeWrites;

class Writeback {
 public:
  Writeback(Copies& copies, Fetches& fetches) : copies_(copies), fetches_(fetches) {}

  // Releases: this rank's writes are at the homes and in the notices afterwards.
  void flush(bool alone);
  // Flushes one array, or one page, while other threads continue.
  void flush(Array& array);
  void flush(Array& array, uint64_t page);
  // Flushes all arrays, and collects writes to home pages; moves the notices since the last call to `out`. Returns
  // false if home pages may have been written that are not known.
  bool release(HomeWrites& home_writes, std::vector<Notice>& out);
  // Acquires: other ranks have written these pages. Refreshes a copy in place if this rank is likely to write it again,
  // else drops it. This rank's own writes to it are kept.
  void update(std::span<const Notice> written);
  // Releases, and acquires by dropping every copy; when alone, copies of arrays that are always preloaded stay in the
  // view, stale.
  void flush_and_drop(bool alone);
  // Flushes and drops one page; for atomics.
  void flush_and_drop(Array& array, uint64_t page);
  // Acquires without dropping. Requires that this rank has written no copy since the last acquire and fetches all that
  // it reads before it reads it. Copies stay in the view, stale, until they are refreshed in place or dropped.
  void mark_stale();
  // Drops copies that are not written; after flush(alone).
  void invalidate(uint64_t page, uint64_t pages);
  void note(uint64_t page);  // adds to the notices
  // Adds runs to the notices; returns false and adds nothing if the log of notices is half full.
  bool note(std::span<const PageRun> runs);

  // Reserves room; called before pages are claimed, because evicting takes the flush lock.
  void make_room(uint64_t pages);

 private:
  using Piece = Copies::Piece;
  class Packer;  // sends changes to a home
  bool sending() const;
  void await_outgoing();

  bool take_valid(uint64_t page);
  void flush_all(bool alone);
  void flush_pieces(Array& array, bool alone);
  Piece in_use(const Piece& piece) const;
  void flush_piece(const Piece& piece, bool alone);
  bool close_pages(const Piece& piece);
  void discard_unchanged(const Piece& piece, const PageBits& unchanged);
  void drop_piece(const Piece& piece, bool alone, bool written);
  void mark_piece_stale(const Piece& piece);
  void evict(uint64_t pages);
  void evict_run(uint64_t page, uint64_t pages, bool valid);

  Copies& copies_;
  const CacheConfig& config_ = copies_.config();
  Fetches& fetches_;

  SignalSafeLock flush_lock_;  // guards diffs, notices and evictions; never taken while holding a busy page
  static constexpr size_t packed_words = 263168 + max_diff_words;
  static constexpr uint32_t outgoings = 2;
  // Differences that are under way or being collected: one area is filled while the other is sent.
  struct Outgoing {
    Completion sent;
    uint64_t words[packed_words];
  };
  Outgoing outgoing_[outgoings];
  uint32_t outgoing_turn_ = 0, since_progress_ = 0;
  Completion whole_sent_;  // pages that are sent whole
  Refreshes refreshes_{copies_};
};

}  // namespace hiroba
