// Sees this rank's accesses to shared arrays, for option check: pages are closed to the program at the begin of each
// epoch, and each first access to one faults. README.md beside this file says what is recorded exactly and what is
// not, and what limits the time that it takes.
//
// Owner: RaceChecker. on_fault() and on_trap() run in signal handlers, in any thread; everything else in one thread
// while no other touches shared memory, but for close() and note(), which any thread may call. Nothing allocates after
// start.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <span>

#include "base/wait.hpp"
#include "memory/array_table.hpp"
#include "memory/check/access_log.hpp"
#include "memory/check/code_place.hpp"
#include "memory/check/instruction.hpp"
#include "memory/check/page_twins.hpp"
#include "memory/check/piece.hpp"
#include "memory/sparse.hpp"

namespace hiroba {

// How much time recording takes, beside the program itself.
class RecordingTime {
 public:
  void begin_epoch() { began_ = seconds_now(), spent_before_ = spent_, waited_ = 0; }
  void end_epoch() {
    if (began_ != 0) program_ += std::max(0.0, seconds_now() - began_ - waited_ - (spent_ - spent_before_));
  }
  // This rank has waited for others, which is not the program's time.
  void leave_out(double seconds) { waited_ += seconds; }
  // Recording a trap or fault since `begin`, with what it takes to deliver the signal and to return from it.
  void spend(double begin) {
    constexpr double signal = 2e-6;
    spent_ += signal + seconds_now() - begin;
  }
  // More has gone into recording than into the program. What is not recorded then is not found; nothing wrong is.
  bool hurried() const {
    constexpr double allowance = 0.3, share = 0.5;
    return spent_ > allowance + share * program_;
  }

 private:
  double program_ = 0, spent_ = 0;                    // seconds, the first until this epoch
  double began_ = 0, spent_before_ = 0, waited_ = 0;  // when this epoch began; of it, waiting
};

class AccessRecorder {
 public:
  struct Config {
    char* base = nullptr;  // address of offset 0
    Layout layout;
    Job job;
    const ArrayTable* arrays = nullptr;
    const AccessLog* log = nullptr;
    Piece* piece = nullptr;
    RecordingTime* time = nullptr;
  };
  Status start(const Config& config);

  // Closes all pages of watched arrays. A new epoch forgets what was recorded; else the records stay, and what follows
  // has a new segment.
  void begin_epoch(uint64_t epoch);
  // Of a single rank, whose accesses are no races, pages are open for reading where others' are closed; and none is
  // closed before a piece of the program has named bytes.
  void close();
  // Pages that are open for writing are open for reading.
  void close_to_writes();
  // Opens pages of an array for writing without a fault, where the piece has named bytes.
  void open_unseen(uint64_t first, uint64_t pages);
  // New arrays are closed; those that go are open.
  void add(const Array& array);
  void remove(Array& array);

  // What the program does without touching the page itself.
  void note(SyncEvent::Kind kind, uint32_t lock, uint32_t ticket);
  void blur(uint64_t page) { config_.log->blur(page, epoch_); }
  // An access on the program's behalf, of a kind of AccessRecord: by the system, for which the pages must be open; or
  // the free of an object of the heap, which is a write of all of it.
  void access(const char* address, size_t bytes, int kind, const void* place);

  // Opens a page for this floor, which is no access of the program's.
  void peek(uint64_t page);

  // True if the page was closed, and is open now.
  bool on_fault(const void* address, ucontext_t& context);
  // True if the trap is the end of an instruction that on_fault() let pass alone.
  bool on_trap(ucontext_t& context);

  // Of pages that this rank has written in this epoch.
  const PageTwins& twins() const { return twins_; }
  // The place of the write by which the page was opened.
  const void* place_of_write(uint64_t page) const { return pages_.as<Page>()[page].written_at; }

 private:
  friend class UnseenAccess;
  struct Page {
    enum Open : uint8_t { closed, reading, writing };
    uint8_t open;
    uint16_t steps;
    uint32_t epoch;          // to which the rest belongs
    const void* written_at;  // the write that has opened it
  };
  struct Stream {
    uint64_t next, pages;
  };
  static constexpr uint64_t most_streams = 16;

  Page& page(uint64_t number);
  void protect(uint64_t first, uint64_t pages, int protection);
  void protect_as_open(uint64_t page);
  bool leave_scattered_heap(const Array& array);
  void record(const char* address, size_t bytes, int kind, const void* place);
  PageWord record(const MemoryAccess& touch, uint64_t page, const CodePlace& place);
  bool is_step(const Array& array, uint64_t page, PageWord word, bool writes);
  void open(const Array& array, uint64_t page, bool writes, const void* place);
  uint64_t window(const Array& array, uint64_t page, bool writes);
  void mark_open(uint64_t page, bool writes, const void* place);

  Config config_;
  uint64_t epoch_ = 0;
  int closed_ = 0;  // protection of closed pages
  SparseFile pages_;
  PageRuns open_, open_to_writes_;
  PageTwins twins_;
  Stream streams_[most_streams] = {};
  size_t stream_turn_ = 0;
  bool traced_ = false, asleep_ = false;
  SignalSafeLock lock_;
};

// While it lives, what this thread touches is no access of the program's: these bytes, as this floor's own data.
class UnseenAccess {
 public:
  UnseenAccess(AccessRecorder* recorder, const char* address, size_t bytes, bool writes);  // null: nothing is recorded
  ~UnseenAccess();
  UnseenAccess(const UnseenAccess&) = delete;

 private:
  AccessRecorder* const recorder_;
  uint64_t first_ = 0, end_ = 0;
};

}  // namespace hiroba
