// Small exchanges of a team whose ranks reach each other's memory: each rank writes its data to its own memory, which
// all read, and a number; the others see the number and take what they need. There is no message; a rank waits only for
// ranks that give it data.
//
// A lane is that memory, for one team; each rank's scratch memory has `most` of them. Calls have numbers and use the
// slots of a lane in turn. A rank writes a slot again when all members have finished the call that used it. There are
// many slots, because memory that another core has just read is slow to write, and ranks may be ahead of each other.
// One thread of a rank at a time begins the calls of a team; any thread may complete them.
#pragma once

#include <atomic>

#include "collective/plans/exchange.hpp"
#include "collective/plans/questions.hpp"
#include "collective/settings.hpp"

namespace hiroba {

class Lanes {
 public:
  static constexpr int most = 8, of_all = 0;  // the lane of all ranks
  static constexpr uint32_t slots = 16;
  static constexpr size_t most_bytes = size_t{32} << 10;  // maximum that a rank gives
  static constexpr size_t name_bytes = 60, place_bytes = 64;
  // The line that others poll and the one with small data are a pair, which processors fetch at once.
  static constexpr size_t pair_of_lines = 128;
  static constexpr uint64_t bytes = most * (pair_of_lines + slots * (pair_of_lines + most_bytes + place_bytes));

  void start(const World& world, const CallLog& log, const Questions& questions, const Tuning& tuning, uint64_t offset,
             uint64_t stride) {
    world_ = &world, log_ = &log, questions_ = &questions, tuning_ = tuning, offset_ = offset, stride_ = stride;
  }
  // Returns the lanes without a team, one bit each. All members take the same lane.
  uint32_t free() const { return free_; }
  void take(int lane) { free_ &= ~(1U << lane); }
  void release(int lane) { free_ |= 1U << lane; }
  // Returns the latest call in the lane that the rank has given data for.
  uint32_t calls(int lane, int rank) const;
  // Returns the name that the rank has given with this call, or with a later one.
  const char* name(int lane, int rank, uint32_t call) const;
  // Takes the lane, as if all members had made `calls` calls or more; none of them has.
  void open(Members& members, uint32_t calls);
  bool reaches_all(const Team& team) const;
  // Returns true if the step can use a lane; all members get the same result.
  bool fits(const Members& members, const Step& step) const;
  // Requires a barrier before it. Checks that all have made the same calls.
  Status agree(Members& members) const;
  // Compares names of calls: in the call itself those of givers, in a later call the others'.
  Status exchange(Members& members, const Step& step, const Call& call) const;
  // Runs running->phases[0] as an operation; begin(members) returns `call`.
  static uint32_t begin(Members& members) { return ++members.calls; }
  Operation exchange(RunningPtr running, const Members& members, uint32_t call) const;

 private:
  struct Slot;
  struct Lane;
  struct Name {  // the shortened name, and a digest of the whole
    char text[name_bytes];
    explicit Name(const char* of);
  };
  Lane& lane(int lane, int rank) const;
  Slot& slot(const Members& members, int member, uint32_t call) const;
  // Returns where the program has made the call that the member's slot has the name of; "" if that is not known.
  char* place(const Members& members, int member, uint32_t call) const;
  std::string text(const Members& members, int member, uint32_t call) const;
  Status compare(Members& members, uint32_t last) const;
  Status same_call(const Members& members, int member, uint32_t call) const;
  bool can_write(const Members& members, int member, uint32_t call) const;
  void give(const Members& members, const Step& step, uint32_t call, const Name& name, const char* at) const;
  bool has_given(const Members& members, int member, uint32_t call) const;
  // Finds the member's block; requires that it has given it.
  Status find(const Members& members, const Step& step, int member, uint32_t call, const Name& name,
              const char*& block) const;
  void finish(const Members& members, const Step& step, uint32_t call, std::span<const char* const> blocks) const;
  template <typename Done>
  Status await(const Members& members, int member, uint32_t call, const Call& text, const Done& done) const;

  const World* world_ = nullptr;
  const CallLog* log_ = nullptr;
  const Questions* questions_ = nullptr;
  Tuning tuning_;
  uint64_t offset_ = 0, stride_ = 0;  // of rank 0's lanes; distance between two ranks' lanes
  uint32_t free_ = (1U << most) - 1;
};

}  // namespace hiroba
