#include "loops/queues.hpp"

#include <atomic>

namespace hiroba {

Status Queues::allocate(Memory& memory) {
  const Job& job = memory.job();
  int most = 0;
  for (int n = 0; n < job.nnodes; ++n) most = std::max(most, job.ranks_on(n));
  stride_ = 2 * static_cast<uint64_t>(most) * sizeof(Words);
  Arrays::Request request;
  request.parts = GuardedParts::of(stride_, false);
  request.parts.element = sizeof(Words), request.parts.name = "words of schedule(dynamic)";
  request.parts.holder = "rank";
  stride_ = request.parts.stride;
  request.dim = {job.nranks, static_cast<int64_t>(stride_)}, request.div = {job.nranks, 1};
  request.element_bytes = 1, request.first = 0, request.count = job.nranks;
  request.call = "parallel for", request.place = "", request.freed_by = "the end of the job";
  request.watched = false;
  void* all = nullptr;
  HIROBA_TRY(memory.arrays().allocate(request, all));
  base_ = static_cast<uint64_t>(static_cast<char*>(all) - memory.collective().world().base);
  return {};
}

uint64_t Queues::offset(const Job& job, int rank, uint64_t table) const {
  const int node = job.node_of(rank), first = job.first_rank_of(node);
  const uint64_t line = table * static_cast<uint64_t>(job.ranks_on(node)) + static_cast<uint64_t>(rank - first);
  return base_ + static_cast<uint64_t>(first) * stride_ + line * sizeof(Words);
}

Queues::Words& Queues::words(const Memory& memory, int rank, uint64_t table) const {
  return *reinterpret_cast<Words*>(memory.collective().world().base + offset(memory.job(), rank, table));
}

Status Queues::begin(Memory& memory, Execution loop, Interval share, Schedule schedule) {
  if (stride_ == 0) HIROBA_TRY(allocate(memory));
  loop_ = std::move(loop), share_ = share, schedule_ = schedule;
  visited_ = 0, distance_ = 1, table_ ^= 1;
  const int rank = memory.job().rank;
  words(memory, rank, table_ ^ 1) = {};  // the barrier at the end of this loop shows it
  const uint64_t begun = 1 + static_cast<uint64_t>(count_in(memory.job(), rank, 0));
  // Relaxed: it saves others the computation of the same number.
  std::atomic_ref(words(memory, rank, table_).begun).store(begun, std::memory_order_relaxed);
  return {};
}

Interval Queues::share_of_rank(const Job& job, int rank) const {
  return rank == job.rank ? share_ : share_of(job, rank, loop_.accesses, loop_.values, 1)[0];
}

int64_t Queues::count_in(const Job& job, int rank, uint64_t begun) const {
  if (begun != 0) return static_cast<int64_t>(begun) - 1;
  const Interval all = share_of_rank(job, rank);
  return count_of({all.begin, all.end, loop_.values[0].step});
}

Interval Queues::part_of_queue(const Job& job, int rank, int64_t from, int64_t size) const {
  const Interval all = share_of_rank(job, rank);
  const int64_t step = loop_.values[0].step, begin = all.begin + from * step;
  return {begin, std::min(all.end, begin + size * step)};
}

// ---- taking --------------------------------------------------------------------------------------------------------

Queues::Taken Queues::take(const Memory& memory) {
  const Job& job = memory.job();
  const int first = job.first_rank_of(job.node), here = job.ranks_on(job.node);
  Taken out;
  for (; visited_ < here; ++visited_) {
    const int rank = first + (job.rank - first + visited_) % here;
    out.own = rank == job.rank;
    if (take_here(memory, rank, out.values)) return out;
  }
  for (; distance_ < job.nnodes; distance_ *= 2)
    if (take_away(memory, (job.node + distance_) % job.nnodes, out.values)) return out;
  return {};
}

// The count that is read first keeps the word from growing beyond all bounds, and is the base of a guided chunk.
bool Queues::take_here(const Memory& memory, int rank, Interval& out) {
  const Job& job = memory.job();
  Words& queue = words(memory, rank, table_);
  const int64_t count = count_in(job, rank, std::atomic_ref(queue.begun).load(std::memory_order_relaxed));
  const int64_t left = count - static_cast<int64_t>(std::atomic_ref(queue.taken).load(std::memory_order_relaxed));
  if (left <= 0) return false;
  const int64_t takers = 2 * static_cast<int64_t>(job.ranks_on(job.node));
  const int64_t size = schedule_.guided ? std::max(schedule_.chunk, ceil_div(left, takers)) : schedule_.chunk;
  const uint64_t at = offset(job, rank, table_);
  const auto from = static_cast<int64_t>(
      memory.transport().words().fetch_add64(job.first_rank_of(job.node), at, static_cast<uint64_t>(size)));
  if (from >= count) return false;
  out = part_of_queue(job, rank, from, size);
  return true;
}

bool Queues::take_away(const Memory& memory, int node, Interval& out) {
  const Job& job = memory.job();
  const int first = job.first_rank_of(node);
  copy_.resize(static_cast<size_t>(job.ranks_on(node)));
  for (;;) {
    memory.transport().get(copy_.data(), first, offset(job, first, table_), copy_.size() * sizeof(Words));
    int64_t most = 0, count = 0;
    int fullest = first;
    for (size_t i = 0; i < copy_.size(); ++i) {
      const int64_t here = count_in(job, first + static_cast<int>(i), copy_[i].begun);
      const int64_t left = here - static_cast<int64_t>(copy_[i].taken);
      if (left <= most) continue;
      most = left, count = here, fullest = first + static_cast<int>(i);
    }
    if (most == 0) return false;
    const int64_t size = ceil_div(ceil_div(most, 2), schedule_.chunk) * schedule_.chunk;
    const auto from = static_cast<int64_t>(
        memory.transport().words().fetch_add64(first, offset(job, fullest, table_), static_cast<uint64_t>(size)));
    if (from >= count) continue;  // others were faster
    out = part_of_queue(job, fullest, from, size);
    return true;
  }
}

}  // namespace hiroba
