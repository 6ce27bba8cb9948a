// Option check: finds accesses by different ranks to the same elements of a coarray, in unordered segments.
//
// Each rank has a vector clock. Synchronisations carry it in a stamp: posts, pairs, barriers of sets, and, in words at
// their home, locks and atomics. Each access is recorded with the clock of its segment; at a barrier of all ranks, rank
// 0 receives the records of all and reports the pairs that conflict, and all records are cleared. Accesses to plain
// memory of the program (a[i] without an image) are not recorded. Thread-safe. Without the option, only on() is called.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "memory/memory.hpp"
#include "section/walk.hpp"

namespace hiroba {

struct Coarray;
struct CoarraySection;

class Checker {
 public:
  using Stamp = Words;  // the number of barriers of all ranks, and the clock; empty without the option
  static constexpr int most_ranks = 900;  // a stamp for all of them fits into a message

  void start(Memory& memory, bool wanted);
  bool on() const { return on_; }

  // ---- accesses ----
  enum class Kind : int32_t { read, write, update };
  void add(const Coarray& coarray);
  void remove(const Coarray& coarray);
  void note(Kind kind, const CoarraySection& access);

  // ---- order ----
  Stamp release();  // ends the segment
  void acquire(std::span<const uint32_t> stamp);
  static void join(Stamp& into, std::span<const uint32_t> other);
  // Compares and clears the records of all ranks. Collective.
  Status compare_all();

 private:
  struct Note {
    uint64_t array;  // offset
    int32_t owner, segment;
    Kind kind;
    uint64_t array_element;  // bytes of the array's
    Section section;         // its address counts from the part's first byte
    char name[64], place[96];
    bool operator==(const Note&) const = default;
  };
  struct Notes {
    const Note* notes;
    size_t count;
    const uint32_t* clocks;  // of the segments, consecutively
  };
  static constexpr size_t most_notes = 4000;

  Notes read(std::span<const char> bytes) const;
  void compare(const Notes& a, int rank_a, const Notes& b, int rank_b);
  void report(const Note& a, int rank_a, const Note& b, int rank_b, int64_t byte);

  Memory* memory_ = nullptr;
  int rank_ = 0, nranks_ = 1;
  bool on_ = false, too_many_ = false;
  std::mutex mutex_;  // guards the members below
  uint32_t barriers_ = 0;
  Stamp clock_;
  bool new_segment_ = true;
  std::vector<uint32_t> segments_;  // clocks
  std::vector<Note> notes_;
  std::vector<const Coarray*> coarrays_;
  RaceReports reports_;
};

}  // namespace hiroba
