#include "memory/intervals.hpp"

#include <algorithm>

#include "memory/parts.hpp"

namespace hiroba {

void Intervals::start() {
  log_.start(parts_.space.base(), parts_.layout, parts_.job, parts_.transport.get());
  seen_.resize(static_cast<size_t>(parts_.job.nnodes));
  ends_.resize(seen_.size());
}

void Intervals::release_locked() {
  fresh_.clear();
  const bool known = parts_.cache->writeback.release(parts_.home_writes, fresh_);
  uint64_t end = written_;
  if (!known || untracked_) end = log_.append_all();
  else if (!fresh_.empty()) end = log_.append(fresh_);
  // Between the halves of a sync_drop what went home at its start stays in no log until all have come.
  untracked_ = untracked_ && parts_.cache->fetches.between();
  if (end != written_) written_ = end, ++version_;
}

uint64_t Intervals::release(std::span<uint64_t> vector) {
  const std::lock_guard guard(lock_);
  release_locked();
  std::copy(seen_.begin(), seen_.end(), vector.begin());
  uint64_t& here = vector[static_cast<size_t>(parts_.job.node)];
  here = std::max(here, written_);
  return version_;
}

void Intervals::drop() {
  parts_.cache->writeback.flush_and_drop(false);
  ++counts_.drops;
}

// Between the halves of a sync_drop, copies may be older than what others wrote before their starts, which is in no
// log.
void Intervals::acquire_locked(std::span<const uint64_t> vector) {
  ++counts_.looked;
  fresh_.clear();
  bool known = !parts_.cache->fetches.between(), any = false;
  for (size_t node = 0; node < seen_.size(); ++node) {
    if (vector[node] <= seen_[node]) continue;
    any = true;
    known = known && log_.read(static_cast<int>(node), seen_[node], vector[node], fresh_);
  }
  counts_.entries += fresh_.size();
  if (!known) drop();
  else if (!fresh_.empty()) parts_.cache->writeback.update(std::span(fresh_).first(merge_notices(fresh_)));
  if (!any) return;
  for (size_t node = 0; node < seen_.size(); ++node) seen_[node] = std::max(seen_[node], vector[node]);
  ++version_;
}

void Intervals::acquire(std::span<const uint64_t> vector) {
  const std::lock_guard guard(lock_);
  acquire_locked(vector);
}

void Intervals::release_and_acquire_all() {
  const std::lock_guard guard(lock_);
  release_locked();
  log_.read_ends(ends_);
  acquire_locked(ends_);
}

// ---- barriers ------------------------------------------------------------------------------------------------------

namespace {
constexpr uint64_t barrier_range = uint64_t{1} << Intervals::barrier_bits;
}  // namespace

uint64_t Intervals::at_barrier() {
  if (!uncovered_) covered_ = log_.end();
  return covered_ % barrier_range;
}

// Of a node's ranks the least counts: the entries before it were there when each of them had made its notices.
// Positions are near those that were seen, on either side.
void Intervals::after_barrier(std::span<const uint64_t> covered) {
  for (int node = 0; node < parts_.job.nnodes; ++node) {
    uint64_t& seen = seen_[static_cast<size_t>(node)];
    uint64_t ahead = barrier_range;
    for (int r = parts_.job.first_rank_of(node); r < parts_.job.first_rank_of(node + 1); ++r) {
      const uint64_t distance = (covered[static_cast<size_t>(r)] - seen) % barrier_range;
      ahead = std::min(ahead, distance < barrier_range / 2 ? distance : 0);
    }
    if (ahead == 0) continue;
    seen += ahead;
    ++version_;
  }
}

}  // namespace hiroba
