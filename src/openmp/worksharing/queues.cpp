#include "openmp/worksharing/queues.hpp"

#include <algorithm>
#include <cstring>

#include "openmp/program/runtime.hpp"
#include "openmp/program/words.hpp"

namespace hiroba::openmp {

Status Queues::allocate(Memory& memory) {
  memory_ = &memory;
  void* all = nullptr;
  HIROBA_TRY(memory.arrays().allocate(array_of_ranks(memory.job(), "queues of loops", sizeof(Slot), 2 * slots), all));
  all_ = static_cast<Slot*>(all);
  return {};
}

Queues::Slot* Queues::bank(int rank, uint64_t barriers) const {
  return all_ + (static_cast<uint64_t>(rank) * 2 + barriers % 2) * slots;
}

Queues::Slot& Queues::slot(int rank, const Member& member) const {
  return bank(rank, member.barriers)[member.loop.slot];
}

void Queues::clear(uint64_t barriers, uint64_t shares) const {
  if (shares > 0) std::memset(bank(memory_->job().rank, barriers), 0, shares * sizeof(Slot));
}

// Chunks by the thread's number: one block for each thread, or chunks in turn.
bool Queues::take_fixed(Member& member) const {
  Loop& loop = member.loop;
  const auto threads = static_cast<uint64_t>(member.threads), thread = static_cast<uint64_t>(member.thread);
  if (loop.chunk == 0) {
    if (loop.next++ > 0) return false;
    const uint64_t each = loop.iterations / threads, more = loop.iterations % threads;
    loop.first = thread * each + std::min(thread, more);
    loop.last = loop.first + each + (thread < more ? 1 : 0);
    return loop.first < loop.last;
  }
  const uint64_t number = loop.next++ * threads + thread;
  if (number > loop.iterations / loop.chunk) return false;
  loop.first = number * loop.chunk;
  loop.last = std::min(loop.iterations, loop.first + loop.chunk);
  return loop.first < loop.last;
}

// A rank's queue has its block of the iterations, so that its threads work on the same memory in each such loop. Blocks
// and guided chunks are multiples of the chunk that the program asks for: only the loop's last chunk may be smaller.
bool Queues::take_from(int rank, Member& member) const {
  Loop& loop = member.loop;
  const auto ranks = static_cast<uint64_t>(loop.one_queue ? 1 : memory_->job().nranks);
  const auto takers = static_cast<uint64_t>(loop.one_queue ? member.threads : member.locals);
  const uint64_t chunks = loop.iterations / loop.chunk + (loop.iterations % loop.chunk != 0 ? 1 : 0);
  const auto bound = [&](uint64_t r) {
    const uint64_t before = chunks / ranks * r + std::min(r, chunks % ranks);
    return before == chunks ? loop.iterations : before * loop.chunk;
  };
  const uint64_t low = bound(static_cast<uint64_t>(rank)), size = bound(static_cast<uint64_t>(rank) + 1) - low;
  int64_t* const next = &slot(rank, member).next;
  uint64_t taken = 0, count = loop.chunk;
  if (loop.kind == Loop::Kind::guided) {
    for (taken = words::load(next); taken < size;) {
      const uint64_t left = size - taken, share = left / (2 * takers) / loop.chunk * loop.chunk;
      count = std::min(left, std::max(loop.chunk, share));
      const uint64_t seen = words::swap(next, taken, taken + count);
      if (seen == taken) break;
      taken = seen;
    }
  } else {
    taken = words::add(next, count);
  }
  if (taken >= size) return false;
  loop.first = low + taken, loop.last = low + std::min(size, taken + count);
  return true;
}

bool Queues::take(Member& member) const {
  Loop& loop = member.loop;
  if (loop.kind == Loop::Kind::fixed) return take_fixed(member);
  // The thread with the last iteration has it last: it assigns variables that are lastprivate.
  if (loop.taken_last) return false;
  const bool taken = take_shared(member);
  loop.taken_last = taken && loop.last == loop.iterations;
  return taken;
}

bool Queues::take_shared(Member& member) const {
  Loop& loop = member.loop;
  if (loop.one_queue) return take_from(0, member);
  const int ranks = memory_->job().nranks, mine = memory_->job().rank;
  for (; loop.queue < ranks; ++loop.queue)
    if (take_from((mine + loop.queue) % ranks, member)) return true;
  return false;
}

void Queues::await_turn(Member& member) const {
  if (member.loop.turn) return;
  int64_t* const turn = &slot(0, member).turn;
  words::await("an ordered region", [&] { return words::load(turn) == member.loop.first; });
  words::acquire(turn);
  member.loop.turn = true;
}

void Queues::end_turn(Member& member) const {
  await_turn(member);
  int64_t* const turn = &slot(0, member).turn;
  words::release(turn);
  words::add(turn, member.loop.last - member.loop.first);
  member.loop.turn = false;
}

}  // namespace hiroba::openmp
