// Detects this rank's accesses to shared arrays, for option check: pages are closed to the program at the beginning of
// each epoch, and the first access to each one faults. README.md in src/memory says what is recorded exactly and what
// is not, and what limits the time of recording.
//
// Owner: RaceChecker. on_fault() and on_trap() run in signal handlers, in any thread. Any thread may call close() and
// note(); one thread calls the rest, while no other touches shared memory. Nothing allocates after start.
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
#include "memory/check/watched_pages.hpp"

namespace hiroba {

// Measures the processor time of recording and of the program itself.
class RecordingTime {
 public:
  void begin_epoch() { began_ = now(), spent_before_ = spent_; }
  void end_epoch() {
    if (began_ != 0) program_ += std::max(0.0, now() - began_ - (spent_ - spent_before_));
  }
  // Returns the processor time of this thread: without a core it neither records nor runs the program.
  static double now() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  // Adds the recording of a trap or fault since now() was `begin`, and the delivery of the signal and its return.
  void spend(double begin) {
    constexpr double signal = 2e-6;
    spent_ += signal + now() - begin;
  }
  // Sets the time that recording may take, as a share of the program's.
  void allow(double share) { share_ = share; }
  // Returns true if recording has taken more time than that. Accesses that are then not recorded may hide races;
  // no false race results.
  bool hurried() const { return spent_ > most(); }
  bool half_spent() const { return spent_ > most() / 2; }

 private:
  double most() const {
    constexpr double start = 0.6;  // as if the program had run for so long, for short runs
    return share_ * (start + program_);
  }
  double share_ = 0;
  double program_ = 0, spent_ = 0;       // seconds, of the program until this epoch
  double began_ = 0, spent_before_ = 0;  // at the begin of this epoch
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

  // Closes all pages of watched arrays. A new epoch drops the records; close() keeps them, and what follows has a new
  // segment.
  void begin_epoch(uint64_t epoch);
  // Closes the open pages. A single rank's accesses are no races, so its pages stay open for reading, and none is
  // closed before a piece of the program has named bytes.
  void close();
  // Makes pages that are open for writing open for reading only.
  void close_to_writes();
  // Opens pages of an array, in which the piece has named bytes, for writing without a fault.
  void open_unseen(uint64_t first, uint64_t pages);
  // add() closes a new array; remove() opens one that goes.
  void add(const Array& array);
  void remove(Array& array);

  // From now on these pages of this rank's part of an array with `own_open` are watched, and no others there.
  void watch_own(PageRun pages);

  // note() and blur() record what the program does without touching the page itself.
  void note(SyncEvent::Kind kind, uint32_t lock, uint64_t ticket);
  void blur(uint64_t page) { config_.log->blur(page, epoch_); }
  // Records an access on the program's behalf, of a kind of AccessRecord: by the system, for which it opens the pages;
  // or the free of an object of the heap, which is a write of all of it.
  void access(const char* address, size_t bytes, int kind, const void* place);

  // Opens a page for this floor, without an access of the program.
  void peek(uint64_t page);

  // Returns true if the page was closed; it is then open.
  bool on_fault(const void* address, ucontext_t& context);
  // Returns true if the trap ends an instruction that on_fault() let pass alone.
  bool on_trap(ucontext_t& context);

  // Returns the twins of pages that this rank has written in this epoch.
  const PageTwins& twins() const { return twins_; }
  // Returns the location of the write that opened the page.
  const void* place_of_write(uint64_t page) const { return pages_.last(page).written_at; }

 private:
  friend class UnseenAccess;
  friend class PastViewAccesses;
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
  WatchedPages watched_;
  PageUses pages_;
  PageRuns open_, open_to_writes_;
  PageTwins twins_;
  PageStreams streams_;
  bool traced_ = false, asleep_ = false;
  SignalSafeLock lock_;
};

// Records what transactions and atomic operations access, past the program's view, and the order of transactions.
// Thread-safe.
class PastViewAccesses {
 public:
  explicit PastViewAccesses(AccessRecorder& recorder) : recorder_(recorder) {}

  void access(const char* address, size_t bytes, bool writes) const;
  void atomic(const char* address, size_t bytes, bool writes) const;
  // A transaction begins; its ticket, which orders it among all, is known at its end.
  uint32_t begin_turn() const;
  void end_turn(uint32_t event, uint32_t ticket) const;

 private:
  // Returns whether the page is watched; if so, it is touched.
  bool touch(const char* address, size_t bytes, int kind) const;
  RankLog& log() const { return recorder_.config_.log->of(recorder_.config_.job.rank); }

  AccessRecorder& recorder_;
};

// While the object lives, this thread's accesses to these bytes do not count as the program's.
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
