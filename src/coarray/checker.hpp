// With option check: accesses by different ranks to the same elements of a coarray, in segments that nothing orders.
//
// Each rank has a vector clock. What synchronises carries it in a stamp: posts, pairs, barriers of sets, and, by way of
// words at the home of a lock or an atomic, these. Each access is noted with the clock of its segment; when all ranks
// meet, rank 0 gets the notes of all, names the pairs that conflict, and all begin anew. So what is plain memory to the
// program (a[i] without an image) is not seen.
// Thread-safe. Without the option, nothing but on() is called.
#pragma once

#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "coarray/section.hpp"
#include "memory/memory.hpp"

namespace hiroba {

struct Coarray;
struct Section;

class Checker {
 public:
  using Stamp = Words;                    // the number of meetings, and the clock; empty without the option
  static constexpr int most_ranks = 900;  // whose stamp fits into a message

  void start(Memory& memory, bool wanted);
  bool on() const { return on_; }

  // ---- accesses ----
  enum class Kind : int32_t { read, write, update };
  void add(const Coarray& coarray);
  void remove(const Coarray& coarray);
  void note(Kind kind, const Section& section, size_t element);

  // ---- order ----
  Stamp release();  // ends the segment
  void acquire(std::span<const uint32_t> stamp);
  static void join(Stamp& into, std::span<const uint32_t> other);
  // All ranks: compares, and forgets. Collective.
  Status meet();

 private:
  struct Note {
    uint64_t array;  // offset
    int32_t owner, segment;
    Kind kind;
    uint32_t element;        // bytes of the section's elements
    uint64_t array_element;  // of the array's
    int64_t low;             // the first byte of the section's first element in the part
    Box box;
    char name[64], place[96];
    bool operator==(const Note&) const = default;
  };
  struct Notes {
    const Note* notes;
    size_t count;
    const uint32_t* clocks;  // of the segments, one behind the other
  };
  static constexpr size_t most_notes = 4000;

  Notes read(std::span<const char> bytes) const;
  void compare(const Notes& a, int rank_a, const Notes& b, int rank_b);
  void report(const Note& a, int rank_a, const Note& b, int rank_b, int64_t byte);

  Memory* memory_ = nullptr;
  int rank_ = 0, nranks_ = 1;
  bool on_ = false, too_many_ = false;
  std::mutex mutex_;  // guards what follows
  uint32_t meetings_ = 0;
  Stamp clock_;
  bool new_segment_ = true;
  std::vector<uint32_t> segments_;  // clocks
  std::vector<Note> notes_;
  std::vector<const Coarray*> coarrays_;
  std::set<std::string> reported_;
};

// Where two sections meet: the first byte of one of `a` that `b` has, too; -1 if there is none. Offsets count from
// anywhere.
int64_t common_byte(int64_t a_low, const Box& a, size_t a_element, int64_t b_low, const Box& b, size_t b_element);

}  // namespace hiroba
