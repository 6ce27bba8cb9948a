// Fetches: what a fault or a preload brings, and what is on its way while the program computes.
//
// Owner: Cache. Threads: everything may be called at once in any threads, also in the fault handler, but
// preload_ahead(), enter_between() and leave_between(): collective.
#pragma once

#include "memory/cache/copies.hpp"
#include "memory/cache/foresight.hpp"

namespace hiroba {

class Writeback;

class Fetches {
 public:
  Fetches(Copies& copies, Writeback& writeback) : copies_(copies), writeback_(writeback) {}
  // Before the transport starts.
  void listen(Transport& transport) { registration_handler_ = transport.add_handler(on_registration, this); }

  // The page was accessed and is not there: brings it, and more if that pays. False if its home is this node.
  bool fault(Array& array, uint64_t page);

  // Begins to bring pages [first, end) of the array, as many as the cache has room for. An access to one of them waits
  // for it; finish() waits for all. True if any are fetched, or this is the first preload since the last drop that
  // finds pages fetched ahead: a moment in which others are likely to fetch from this rank, too.
  bool start_preload(Array& array, uint64_t first, uint64_t end);
  // After flush_and_drop(alone), before the barrier: fetches ahead what the program is expected to preload after it;
  // between the halves of one, only of arrays that the program preloads before every use: an access to other pages
  // would wait for a home that may wait for this rank.
  void preload_ahead(bool halves);
  void finish() { finish(0, UINT64_MAX); }
  void finish(uint64_t first, uint64_t end);  // those with any of these pages
  // Between the halves of a sync_drop, which these surround, a fetch waits for the differences that the drop has sent.
  void enter_between();
  bool between() const { return between_.load(std::memory_order_relaxed); }
  bool leave_between();  // true if anything has been fetched in between but for what was fetched ahead

  void wait_while_busy(uint64_t page);
  // Lets the system write to these pages, for which it takes no faults.
  void open(Array& array, uint64_t first, uint64_t end);

 private:
  struct Window {
    uint64_t pages, sure;
  };
  // Pages that this rank has claimed and that are on their way.
  struct Fetch {
    enum State : uint32_t { free, filling, under_way, finishing };
    std::atomic<uint32_t> state{free};  // of a slot
    Array* array = nullptr;
    uint64_t page = 0, pages = 0, absent = 0;
    bool twins_missing = false;
    bool ahead = false;  // of the next barrier
    Completion completion;
  };

  bool was_used(uint64_t page) const;
  Window window(const Array& array, uint64_t page);
  bool start_fetches(Array& array, uint64_t first, uint64_t end, bool ahead);
  uint64_t begin(Array& array, const HomeRun& run, uint64_t page, uint64_t end, Fetch& fetch);
  void copy_in(Fetch& fetch, int rank, const Piggyback* piggyback) const;
  void finish(Fetch& fetch);
  void show(Array& array, uint64_t page, uint64_t pages) const;
  void hide_stale(Array& array, uint64_t first, uint64_t end) const;
  Fetch* free_slot();
  bool under_way(uint64_t page) const;
  bool finish_slot(Fetch& fetch);
  static void on_registration(void* self, int source, const void* payload, size_t bytes);

  Copies& copies_;
  const CacheConfig& config_ = copies_.config();
  Writeback& writeback_;
  int registration_handler_ = 0;

  static constexpr size_t most_fetches = 8;
  Fetch fetches_[most_fetches];
  std::atomic<uint32_t> slot_turn_{0};
  Foresight foresight_;
  std::atomic<bool> unattended_{false};  // no preload since the last drop
  std::atomic<bool> between_{false}, fetched_between_{false};

  static constexpr size_t streams = 16;  // of faults on pages in a row
  std::atomic<uint64_t> stream_next_[streams] = {}, stream_window_[streams] = {};
  std::atomic<uint32_t> stream_turn_{0};
};

}  // namespace hiroba
