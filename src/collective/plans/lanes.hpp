// Small exchanges of a team whose ranks reach each other's memory: each rank writes what it gives to memory of its own
// that all read, and a number; the others see the number and take what they need. There is no message; a rank waits for
// those that give it something.
//
// A lane is that memory, for one team: `most` of them in each rank's scratch memory. Calls have numbers and use the
// slots of a lane in turn. A rank writes a slot again when all members have finished the call that used it. It is slow
// to write what another core has just read, and ranks may run ahead of each other, so there are many. The calls of a
// team are begun by one thread of a rank at a time; their rest is for any thread.
#pragma once

#include <atomic>

#include "collective/plans/exchange.hpp"
#include "collective/settings.hpp"

namespace hiroba {

class Lanes {
 public:
  static constexpr int most = 8;
  static constexpr uint32_t slots = 16;
  static constexpr size_t most_bytes = size_t{32} << 10;  // that a rank gives
  static constexpr size_t name_bytes = 60;
  static constexpr uint64_t bytes = most * (slots * sizeof(uint32_t) + slots * (64 + most_bytes));

  void start(const World& world, const CallLog& log, const Tuning& tuning, uint64_t offset, uint64_t stride) {
    world_ = &world, log_ = &log, tuning_ = tuning, offset_ = offset, stride_ = stride;
  }
  // Lanes that no team has, one bit each. Members take the same lane.
  uint32_t free() const { return free_; }
  void take(int lane) { free_ &= ~(1U << lane); }
  void release(int lane) { free_ |= 1U << lane; }
  // The latest call that the rank has given for in it.
  uint32_t calls(int lane, int rank) const;
  // The name that the rank has given with this call, or with a later one.
  const char* name(int lane, int rank, uint32_t call) const;
  // Takes its lane, as if all members had made `calls` calls or more, which none of them has.
  void open(Members& members, uint32_t calls);
  bool reaches_all(const Team& team) const;
  // Whether the step can go by a lane; all members say the same.
  bool fits(const Members& members, const Step& step) const;
  // After a barrier: that all have made the same calls.
  Status agree(Members& members) const;
  // Names of calls are compared: in the call itself with those that give something, with the others in a later call.
  Status exchange(Members& members, const Step& step, const Call& call) const;
  // The same as an operation, of running->phases[0]; `call`: begun by begin(members).
  static uint32_t begin(Members& members) { return ++members.calls; }
  Operation exchange(RunningPtr running, const Members& members, uint32_t call) const;

 private:
  struct Slot;
  struct Lane;
  struct Name {  // shortened, and a digest of the whole
    char text[name_bytes];
    explicit Name(const char* of);
  };
  Lane& lane(int lane, int rank) const;
  Slot& slot(const Members& members, int member, uint32_t call) const;
  Status compare(Members& members, uint32_t last) const;
  Status same_call(const Members& members, int member, uint32_t call) const;
  bool can_write(const Members& members, int member, uint32_t call) const;
  void give(const Members& members, const Step& step, uint32_t call, const Name& name) const;
  bool has_given(const Members& members, int member, uint32_t call) const;
  // Where the member's block is, once it has given it.
  Status find(const Members& members, const Step& step, int member, uint32_t call, const Name& name,
              const char*& block) const;
  void finish(const Members& members, const Step& step, uint32_t call, std::span<const char* const> blocks) const;
  template <typename Done>
  Status await(const Members& members, int member, uint32_t call, const Call& text, const Done& done) const;

  const World* world_ = nullptr;
  const CallLog* log_ = nullptr;
  Tuning tuning_;
  uint64_t offset_ = 0, stride_ = 0;  // of rank 0's; from one rank to the next
  uint32_t free_ = (1U << most) - 1;
};

}  // namespace hiroba
