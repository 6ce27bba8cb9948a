#include "collective/barriers/arrivals.hpp"

#include <algorithm>

#include "base/debug/whereabouts.hpp"

namespace hiroba {

uint64_t Arrivals::place(int rank) const { return scratch_ + static_cast<uint64_t>(rank) * stride_; }

// The first word counts arrivals: 2 for each complete one, 1 more after a part of the next. The second counts ranks
// that may sleep on the first. Both are in one cache line.
std::atomic<uint32_t>& Arrivals::word(int rank, int word) const {
  return reinterpret_cast<std::atomic<uint32_t>*>(world_->reach(rank, place(rank)))[word];
}

bool Arrivals::reaches_all() const {
  const Job& job = world_->job;
  for (int r = 0; r < job.nranks; r = job.first_rank_of(job.node_of(r) + 1))
    if (world_->reach(r, place(r)) == nullptr) return false;
  return true;
}

bool Arrivals::arrived_with_part() const { return word(world_->rank, 0).load(std::memory_order_relaxed) % 2 != 0; }

void Arrivals::arrive(const char* call, Work done) {
  std::atomic<uint32_t>& count = word(world_->rank, 0);
  const uint32_t before = count.load(std::memory_order_relaxed);
  world_->transport->fence();
  if (done == Work::all) {
    RankBoard& self = world_->board->rank(world_->rank);
    self.show(call);
    self.calls.fetch_add(1, std::memory_order_relaxed);
  }
  count.store(before + (before % 2 != 0 || done == Work::part ? 1 : 2));
  if (word(world_->rank, 1).load() != 0) world_->transport->words().wake(world_->rank, place(world_->rank));
}

bool Arrivals::has_arrived(int rank, Work needed) const {
  const uint32_t own = word(world_->rank, 0).load(std::memory_order_relaxed);
  return static_cast<int32_t>(word(rank, 0).load() - own) >= (needed == Work::part ? -1 : 0);
}

bool Arrivals::arrived(std::span<const int> others, Work needed) const {
  return std::all_of(others.begin(), others.end(), [&](int rank) { return has_arrived(rank, needed); });
}

Status Arrivals::await(const char* call, std::span<const int> others, Work needed) {
  const BlockedOnBoard blocked(world_->board->rank(world_->rank));
  const double start = seconds_now();
  for (const int rank : others) {
    word(rank, 1).fetch_add(1);
    for (;;) {
      const uint32_t seen = word(rank, 0).load();
      if (has_arrived(rank, needed)) break;
      world_->transport->words().await_change(rank, place(rank), seen, 0.1);
      const double waited = seconds_now() - start;
      if (world_->timeout <= 0 || waited <= world_->timeout || has_arrived(rank, needed)) continue;
      return Status::error("waited %.3g s (option timeout) in %s; %s", waited, call,
                           not_come(*world_->board, rank).c_str());
    }
    word(rank, 1).fetch_sub(1);
  }
  return {};
}

}  // namespace hiroba
