// The page cache: copies of pages whose home is on another node, in this rank's memory, at the addresses where the
// program sees them. README.md tells the states of a page, the order of steps, and why nothing written is lost.
//
// Owner: Memory. Threads: fault(), fetch and the release/acquire calls may run at once in any threads; `alone` says
// that no other thread of this rank touches shared memory during the call (barriers), which saves work. add() and
// remove() are collective. fault() runs in the fault handler; so do fetches and evictions, hence no allocation here
// after start.
#pragma once

#include <algorithm>
#include <memory>

#include "base/wait.hpp"
#include "memory/array.hpp"
#include "memory/diff.hpp"
#include "memory/foresight.hpp"
#include "memory/notices.hpp"
#include "memory/page_states.hpp"
#include "memory/tracker.hpp"
#include "transport/transport.hpp"

namespace hiroba {

class Cache {
 public:
  struct Config {
    Layout layout;
    Job job;
    char* base = nullptr;  // address of offset 0
    Transport* transport = nullptr;
    ArrayTable* arrays = nullptr;
    Userfaultfd* uffd = nullptr;
    Pagemap* pagemap = nullptr;
    NoticeLog* notices = nullptr;
    PageStates* states = nullptr;
    uint64_t limit_pages = 0;
    uint64_t readahead_pages = 1;
    bool huge = false;
    bool in_place = true;  // copies may stay in the view where an array is preloaded; else each use faults
  };

  // Before the transport starts.
  void listen(Transport& transport) { announced_handler_ = transport.add_handler(on_announced, this); }
  Status start(const Config& config);

  // Prepares / clears the pages of an array whose home is another node.
  Status add(Array& array, bool twin_at_fetch);
  void remove(Array& array);

  // The page was accessed and is not there: brings it, and more if that pays. False if its home is this node.
  bool fault(Array& array, uint64_t page);

  // Begins to bring pages [first, end) of the array, as many as the cache has room for. An access to one of them waits
  // for it; finish_preloads() waits for all. True if it has asked for any, or is the first since the last drop to find
  // that they have been asked for ahead: a moment in which others are likely to ask this rank, too.
  bool start_preload(Array& array, uint64_t first, uint64_t end);
  // After flush_and_drop(alone), before the exchange: asks for what the program is expected to preload after it;
  // between the halves of one, only for what it has promised not to touch until then: an access would wait for a home
  // that may wait for this rank.
  void preload_ahead(bool halves);
  void finish_preloads();
  void finish_preloads(uint64_t first, uint64_t end);  // those with any of these pages
  // Between the halves of a sync_drop, which these surround, a fetch waits for the differences that the drop has sent.
  void enter_between();
  bool leave_between();  // true if anything has been fetched meanwhile but for what was asked for ahead
  // Runs of pages that are here, in order; gaps of a few pages are taken in.
  std::vector<PageRun> here();

  // Release: what was written is at the homes and noted in the notices.
  void flush(bool alone);
  // Release, and acquire by forgetting every copy; alone, those of arrays that are always preloaded stay in the view,
  // out of date.
  void flush_and_drop(bool alone);
  // The same for one page; for atomics.
  void flush_and_drop(Array& array, uint64_t page);
  // Acquire without forgetting, if this rank has written no copy since the last acquire, and fetches all that it reads
  // before it does: copies stay in the view, out of date, until they are fetched in place or dropped.
  void outdate();
  // Forgets copies that are not written; after flush(alone).
  void invalidate(uint64_t page, uint64_t pages);

  // Pages in flight have a second mapping, which is not part of the cache: few compared with its size.
  uint64_t limit_pages() const { return config_.limit_pages; }
  uint64_t most_at_once() const { return std::max<uint64_t>(1, config_.limit_pages / 32); }

  void note(uint64_t page);  // adds to the notices
  uint64_t resident() const { return resident_.load(std::memory_order_relaxed); }

 private:
  struct Piece;  // pages of one home run within one chunk
  class Packer;  // changes on their way to a home
  bool sending() const;
  void await_outgoing();

  // Whether copies stay in the view when they are out of date.
  bool stays(const Array& array) const { return config_.in_place && array.preloaded.load(std::memory_order_relaxed); }
  bool here(const HomeRun& run) const { return config_.job.node_of(run.rank) == config_.job.node; }
  char* view(uint64_t page) const { return config_.base + (page << page_shift); }
  template <typename Visit>
  void for_each_piece(Array& array, uint64_t first, uint64_t end, const Visit& visit);

  struct Window {
    uint64_t pages, sure;
  };
  bool was_used(uint64_t page) const;
  Window window(const Array& array, uint64_t page);
  uint64_t claim(Array& array, uint64_t page, uint64_t end, uint64_t& absent);
  // Pages that this rank has claimed and that are on their way.
  struct Fetch {
    enum State : uint32_t { free, filling, under_way, finishing };
    std::atomic<uint32_t> state{free};  // of a slot
    Array* array = nullptr;
    uint64_t page = 0, pages = 0, absent = 0;
    bool twins_missing = false;
    bool ahead = false;  // of the next exchange
    Completion completion;
  };
  bool start_fetches(Array& array, uint64_t first, uint64_t end, bool ahead);
  uint64_t begin(Array& array, const HomeRun& run, uint64_t page, uint64_t end, Fetch& fetch);
  void finish(Fetch& fetch);
  void show(Array& array, uint64_t page, uint64_t pages);
  Fetch* free_slot();
  bool under_way(uint64_t page) const;
  bool finish_slot(Fetch& fetch);
  void wait_while_busy(uint64_t page);
  int announced_handler_ = 0;
  static void on_announced(void* self, int source, const void* payload, size_t bytes);
  void use_huge_pages(uint64_t page, uint64_t pages);
  void copy_in(Fetch& fetch, int rank, const Piggyback* piggyback);

  void forget_mappings(const Array& array, uint64_t page, uint64_t pages);
  void make_room(uint64_t pages);
  void evict(uint64_t pages);
  void evict_run(uint64_t page, uint64_t pages, bool valid);
  void remember(uint64_t page);

  bool take_valid(uint64_t page);
  bool take_outdated(uint64_t page);
  void hide(Array& array, uint64_t page);
  void hide_outdated(Array& array, uint64_t first, uint64_t end);
  Piece in_use(const Piece& piece) const;
  void flush_piece(const Piece& piece, bool alone);
  void settle(const Piece& piece, const PageBits& unchanged);
  void drop_piece(const Piece& piece, bool alone, bool written);
  void outdate_piece(const Piece& piece);

  Config config_;
  SparseFile cache_file_, twin_file_, order_file_, chunk_file_;
  std::unique_ptr<Tracker> shared_tracker_, private_tracker_;
  std::atomic<uint64_t> resident_{0};  // pages in the cache file, or about to be
  std::atomic<bool> full_{false};      // evictions have begun

  SignalSafeLock order_lock_;  // guards the order of arrival: order_[first_, last_) modulo its size
  uint32_t* order_ = nullptr;
  uint64_t order_size_ = 0, order_first_ = 0, order_last_ = 0;

  std::atomic<uint16_t>* chunk_count_ = nullptr;  // resident pages per chunk of 512

  static constexpr size_t most_fetches = 8;
  Fetch fetches_[most_fetches];
  std::atomic<uint32_t> slot_turn_{0};
  Foresight foresight_;
  std::atomic<bool> unattended_{false};  // no preload since the last drop
  std::atomic<bool> between_{false}, fetched_between_{false};

  static constexpr uint16_t chunk_tried = 0x8000;  // in a chunk's count: huge pages were tried
  static constexpr size_t streams = 16;
  std::atomic<uint64_t> stream_next_[streams] = {}, stream_window_[streams] = {};
  std::atomic<uint32_t> stream_turn_{0};

  SignalSafeLock flush_lock_;  // guards diffs, notices and evictions; never taken while holding a busy page
  static constexpr size_t packed_words = 263168 + max_diff_words;
  static constexpr uint32_t outgoings = 2;
  // Differences on their way, or being gathered for it: the one while the other is sent.
  struct Outgoing {
    Completion sent;
    uint64_t words[packed_words];
  };
  Outgoing outgoing_[outgoings];
  uint32_t outgoing_turn_ = 0, since_progress_ = 0;
  Completion whole_sent_;  // pages that go as they are
};

}  // namespace hiroba
