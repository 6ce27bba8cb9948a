// Fetches of pages, by faults and by preloads that continue while the program computes.
//
// Owner: Cache. Threads: any threads may call everything at once, also in the fault handler, except preload_ahead(),
// enter_between() and leave_between(), which are collective.
#pragma once

#include "memory/cache/copies.hpp"
#include "memory/cache/foresight.hpp"
#include "memory/cache/readahead.hpp"
#include "memory/cache/registrations.hpp"

namespace hiroba {

class Writeback;

class Fetches {
 public:
  Fetches(Copies& copies, Writeback& writeback) : copies_(copies), writeback_(writeback) {}
  Status start() { return readahead_.start(); }
  // Called before the transport starts.
  void listen(Transport& transport) { registrations_.listen(transport); }

  // Fetches a page that was accessed and is not there, and more pages if that pays. Returns false if its home is this
  // node. `fetched`: the pages that it has fetched; 0 if the page was there or on its way.
  bool fault(Array& array, uint64_t page, FaultKind kind, uint64_t* fetched = nullptr);

  // Begins to fetch pages [first, end) of the array, as many as the cache has room for. An access to one of them waits
  // for it; finish() waits for all. Returns true if any are under way, or if this is the first preload since the last
  // drop that finds pages fetched ahead: other ranks are then likely to fetch from this rank, too.
  // On trial the pages stay out of the view, as guesses, until they are accessed.
  bool start_preload(Array& array, uint64_t first, uint64_t end, bool on_trial = false);
  // Fetches ahead the pages that the program is expected to preload after the barrier. Called between
  // flush_and_drop(alone) and the barrier. `halves`: between the halves of a sync_drop it fetches preload-only arrays
  // alone, because an access to another page would wait for a home that may wait for this rank.
  void preload_ahead(bool halves);
  void finish() { finish(0, UINT64_MAX); }
  void finish(uint64_t first, uint64_t end);  // fetches of any of these pages
  // Returns the array of a started fetch of any of these pages; null: none is under way.
  Array* array_under_way(uint64_t first, uint64_t end) const;
  // Finishes fetches of these pages whose data has arrived; returns true if that was all. Does not block.
  bool have_ended(uint64_t first, uint64_t end);
  // These two enclose the time between the halves of a sync_drop, in which a fetch first waits for the differences that
  // the drop has sent.
  void enter_between();
  bool between() const { return between_.load(std::memory_order_relaxed); }
  bool leave_between();  // true if any page was fetched in between, except those fetched ahead

  std::atomic<uint64_t> begun{0};  // the number of fetches until now
  FaultNotes notes;                // of pages that accesses have brought

  // The array is being freed.
  void forget(const PageRun& pages) { readahead_.forget(pages); }

  void wait_while_busy(uint64_t page);

 private:
  // Pages that this rank has claimed and whose fetch is under way.
  struct Fetch {
    enum State : uint32_t { free, filling, under_way, finishing };
    std::atomic<uint32_t> state{free};  // of the slot
    Array* array = nullptr;
    uint64_t page = 0, pages = 0, absent = 0;
    uint64_t shown = UINT64_MAX;  // pages that become visible when they have arrived
    bool twins_missing = false;
    bool empty = false;  // nobody has written them: they are zeros, which need no transfer
    bool ahead = false;  // a deferred get, answered after the next barrier
    Completion completion;
  };

  uint64_t fetch_empty(Array& array, const HomeRun& run, uint64_t page, FaultKind kind);
  void fetch_chunk(Array& array, const HomeRun& run, uint64_t page);
  enum class Manner { at_once, ahead, on_trial };
  bool start_fetches(Array& array, uint64_t first, uint64_t end, Manner manner);
  uint64_t begin(Array& array, const HomeRun& run, uint64_t page, uint64_t end, Fetch& fetch);
  void copy_in(Fetch& fetch, int rank, const Piggyback* piggyback) const;
  void finish(Fetch& fetch);
  void show(const Fetch& fetch) const;
  void show_valid(Array& array, uint64_t page);
  void hide_stale(Array& array, uint64_t first, uint64_t end) const;
  Fetch* free_slot();
  bool finish_slot(Fetch& fetch);

  Copies& copies_;
  const CacheConfig& config_ = copies_.config();
  Writeback& writeback_;

  static constexpr size_t most_fetches = 8;
  Fetch fetches_[most_fetches];
  std::atomic<uint32_t> slot_turn_{0};
  Foresight foresight_;
  Readahead readahead_{config_};
  Registrations registrations_{config_};
  std::atomic<bool> unattended_{false};  // no preload was made since the last drop
  std::atomic<bool> between_{false}, fetched_between_{false};
};

}  // namespace hiroba
