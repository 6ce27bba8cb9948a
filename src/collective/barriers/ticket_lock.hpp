// A lock in the memory of a rank: the next ticket and the ticket being served, 32 bits each, initially zero. It serves
// threads in the order of arrival. Its users make protected data visible, before release() and after acquire().
// Thread-safe; acquire() blocks and drives progress.
#pragma once

#include "collective/world.hpp"

namespace hiroba {

class TicketLock {
 public:
  TicketLock(const World& world, int rank, uint64_t offset) : world_(world), rank_(rank), offset_(offset) {}
  // `text` and `what` are those of World::await_word.
  template <typename Text, typename What>
  Status acquire(const Text& text, const What& what, uint32_t& ticket) const {
    const uint32_t mine = ticket = world_.transport->words().fetch_add32(rank_, offset_, 1);
    return world_.await_word(rank_, serving(), [mine](uint32_t now) { return now == mine; }, text, what);
  }
  bool try_acquire(uint32_t& ticket) const {
    ticket = world_.transport->words().fetch_add32(rank_, serving(), 0);
    return world_.transport->words().compare_swap32(rank_, offset_, ticket, ticket + 1) == ticket;
  }
  // The same atomic step shows whether a thread waits: one that comes later finds the lock free.
  void release() const {
    const uint64_t before = world_.transport->words().fetch_add64(rank_, offset_, uint64_t{1} << 32);
    const auto next = static_cast<uint32_t>(before), now = static_cast<uint32_t>(before >> 32) + 1;
    if (next != now) world_.transport->words().wake(rank_, serving());
  }

 private:
  uint64_t serving() const { return offset_ + sizeof(uint32_t); }

  const World& world_;
  int rank_;
  uint64_t offset_;
};

}  // namespace hiroba
