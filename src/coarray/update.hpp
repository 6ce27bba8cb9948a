// Accumulates: `to = to op from` on any rank, so that no two of them on one element lose each other.
//
// Where this process can reach the target by itself, it computes there, holding one of the target's locks for a region
// of memory at a time. Else the values travel in messages, and a handler at the target computes in the same way. What
// was sent is counted here and what was done at the target; settle() waits until the two agree.
// Thread-safe.
#pragma once

#include <atomic>
#include <memory>

#include "coarray/arithmetic.hpp"
#include "coarray/mover.hpp"

namespace hiroba {

// Words of each rank that this floor needs, in a coarray of its own: locks, counts, room for collective operations.
struct Control {
  static constexpr uint64_t locks = 512, lock_stride = 64, room = uint64_t{256} << 10;
  uint64_t offset = 0, stride = 0;  // of rank 0's, and from one to the next
  int nranks = 1;
  uint64_t of(int rank) const { return offset + static_cast<uint64_t>(rank) * stride; }
  uint64_t lock(int rank, uint64_t at) const { return of(rank) + (at >> region_shift) % locks * lock_stride; }
  // How many messages of `source` have been done at `rank`.
  uint64_t done(int rank, int source) const {
    return of(rank) + locks * lock_stride + static_cast<uint64_t>(source) * 4;
  }
  // Two halves of room.
  uint64_t scratch(int rank, int half) const {
    return of(rank) + scratch_at(nranks) + static_cast<uint64_t>(half) * room;
  }
  static uint64_t scratch_at(int nranks) {
    return (locks * lock_stride + static_cast<uint64_t>(nranks) * 4 + 4095) / 4096 * 4096;
  }
  static uint64_t bytes(int nranks) { return scratch_at(nranks) + 2 * room; }
  // Accumulates lock so much memory at once: a microsecond's work.
  static constexpr int region_shift = 15;
};

class Updater {
 public:
  void listen(Transport& transport);
  void start(const World& world, const Control& control);
  // A walk's blocks are elements. `from` cannot fault.
  void update(const Place& to, const char* from, const Walk& elements, const Arithmetic& arithmetic);
  // The same in memory that nobody else updates: no locks.
  static void compute(char* to, const char* from, const Walk& elements, const Arithmetic& arithmetic);
  // Waits until all that this rank has sent is done.
  Status settle(const Call& call);

 private:
  void send(const Place& to, const char* from, const Walk& elements, const Arithmetic& arithmetic);
  void serve(int source, const void* payload, size_t bytes);

  const World* world_ = nullptr;
  const Control* control_ = nullptr;
  std::unique_ptr<std::atomic<uint32_t>[]> sent_;  // messages, by rank
  std::unique_ptr<std::atomic<uint32_t>[]> done_;  // of these, known to be done
  std::atomic<bool> any_sent_{false};              // ever: most programs accumulate on their own node only
};

}  // namespace hiroba
