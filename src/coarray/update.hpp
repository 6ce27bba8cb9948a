// Accumulates: `to = to op from` on any rank, without lost updates.
//
// If this process can access the target's memory, it computes there, under one of the target's locks for a region of
// memory at a time. Otherwise the values travel in messages, large amounts into a buffer (room) of the target before
// the message, and a handler at the target computes in the same way. Sent messages are counted here and completed ones
// at the target; await_sent() waits until the two counts are equal. Thread-safe.
#pragma once

#include <atomic>
#include <memory>

#include "coarray/mover.hpp"

namespace hiroba {

// Memory of each rank that this floor needs, in a coarray of its own: locks, counts, rooms.
struct Control {
  static constexpr uint64_t locks = 512, lock_stride = 64, rooms = 4, room = uint64_t{256} << 10;
  // With option check: clocks that locks and atomics transfer, each with a word that locks it, and a stamp.
  static constexpr uint64_t clocks = 64, clock_stride = 4096;
  // The memory that an accumulate locks at a time: its work takes a microsecond.
  static constexpr int region_shift = 15;

  uint64_t offset = 0, stride = 0;  // of rank 0's memory; from one to the next
  int nranks = 1;

  uint64_t of(int rank) const { return offset + static_cast<uint64_t>(rank) * stride; }
  uint64_t lock(int rank, uint64_t at) const { return of(rank) + (at >> region_shift) % locks * lock_stride; }
  // Returns the number of messages of `source` that are complete at `rank`.
  uint64_t done(int rank, int source) const { return word(rank, rooms + static_cast<uint64_t>(source)); }
  // Rooms are buffers for values to accumulate; taken is 1 while a rank has the room.
  uint64_t taken(int rank, int number) const { return word(rank, static_cast<uint64_t>(number)); }
  uint64_t room_of(int rank, int number) const {
    return of(rank) + rooms_at(nranks) + static_cast<uint64_t>(number) * room;
  }
  uint64_t clock(int rank, uint64_t at) const { return room_of(rank, rooms) + (at >> 3) % clocks * clock_stride; }
  static uint64_t bytes(int nranks, bool checking) {
    return rooms_at(nranks) + rooms * room + (checking ? clocks * clock_stride : 0);
  }

 private:
  uint64_t word(int rank, uint64_t number) const { return of(rank) + locks * lock_stride + number * sizeof(uint32_t); }
  static uint64_t rooms_at(int nranks) {
    const uint64_t words = rooms + static_cast<uint64_t>(nranks);
    return (locks * lock_stride + words * sizeof(uint32_t) + 4095) / 4096 * 4096;
  }
};

class Updater {
 public:
  void listen(Transport& transport);
  void start(const World& world, const Control& control);
  // A walk's blocks are elements. `from` cannot fault.
  void update(const RemoteAddress& to, const char* from, const Walk& elements, const Arithmetic& arithmetic);
  // The same in memory that no other thread updates: no locks.
  static void compute(char* to, const char* from, const Walk& elements, const Arithmetic& arithmetic);
  // Waits until all messages of this rank are complete.
  Status await_sent(const Call& call);

 private:
  struct Message;
  void send(const RemoteAddress& to, const char* from, const Walk& elements, const Arithmetic& arithmetic);
  void send_by_room(int rank, const char* from, const Walk& values, Message& message);
  void send_message(int rank, const Message& message);
  int take_room(int rank) const;
  void serve(int source, const void* payload, size_t bytes);

  const World* world_ = nullptr;
  const Control* control_ = nullptr;
  int on_update_ = 0;                              // handler
  std::unique_ptr<std::atomic<uint32_t>[]> sent_;  // messages, by rank
  std::unique_ptr<std::atomic<uint32_t>[]> done_;  // messages known to be complete
  std::atomic<bool> any_sent_{false};              // most programs accumulate on their own node only
};

}  // namespace hiroba
