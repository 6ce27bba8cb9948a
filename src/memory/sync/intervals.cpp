#include "memory/sync/intervals.hpp"

#include <algorithm>

#include "memory/parts.hpp"

namespace hiroba {

namespace {

class CachedPages final : public IntervalPages {
 public:
  explicit CachedPages(MemoryParts& parts) : parts_(parts) {}
  bool release(std::vector<Notice>& out) override { return parts_.cache->writeback.release(parts_.home_writes, out); }
  bool nothing_to_release() const override {
    return parts_.cache->copies.resident() == 0 && !parts_.home_writes.any_copied() && parts_.notices.count() == 0;
  }
  void update(std::span<const Notice> written) override { parts_.cache->writeback.update(written); }
  void drop() override { parts_.cache->writeback.flush_and_drop(false); }
  bool between() const override { return parts_.cache->fetches.between(); }

 private:
  MemoryParts& parts_;
};

}  // namespace

std::unique_ptr<IntervalPages> Intervals::pages_of(MemoryParts& parts) { return std::make_unique<CachedPages>(parts); }

void Intervals::start(Config config) {
  config_ = std::move(config);
  log_.start(config_.base, config_.layout, config_.job, config_.transport);
  seen_.resize(static_cast<size_t>(config_.job.nnodes));
  common_.resize(seen_.size());
  joined_.resize(seen_.size());
  told_ = std::make_unique<std::atomic<uint64_t>[]>(static_cast<size_t>(config_.job.nranks));
  looked_at_ = std::make_unique<std::atomic<bool>[]>(static_cast<size_t>(config_.job.nranks));
}

void Intervals::release_locked() {
  fresh_.clear();
  const bool known = config_.pages->release(fresh_);
  uint64_t end = written_;
  if (!known || untracked_) end = log_.append_all();
  else if (!fresh_.empty()) end = log_.append(fresh_);
  // Between the halves of a sync_drop, no log has the writes that went home at its start until all ranks have arrived.
  untracked_ = untracked_ && config_.pages->between();
  if (end != written_) written_ = end, ++version_, ++news_;
}

void Intervals::copy_vector(std::span<uint64_t> out) const {
  std::copy(seen_.begin(), seen_.end(), out.begin());
  uint64_t& here = out[static_cast<size_t>(config_.job.node)];
  here = std::max(here, written_);
}

uint64_t Intervals::release(std::span<uint64_t> vector) {
  const std::lock_guard guard(lock_);
  release_locked();
  copy_vector(vector);
  return version_;
}

// Between the halves of a sync_drop, copies may be older than what others wrote before their starts, which is in no
// log.
void Intervals::acquire_locked(std::span<const uint64_t> vector) {
  ++counts_.looked;
  fresh_.clear(), unseen_.clear();
  for (size_t node = 0; node < seen_.size(); ++node)
    if (vector[node] > seen_[node]) unseen_.push_back({static_cast<int>(node), seen_[node], vector[node]});
  const bool known = !config_.pages->between() && log_.read(unseen_, fresh_);
  counts_.entries += fresh_.size();
  if (!known) config_.pages->drop(), ++counts_.drops;
  else if (!fresh_.empty()) config_.pages->update(std::span(fresh_).first(merge_notices(fresh_)));
  if (unseen_.empty()) return;
  for (size_t node = 0; node < seen_.size(); ++node) seen_[node] = std::max(seen_[node], vector[node]);
  ++version_, ++news_;
}

void Intervals::acquire(std::span<const uint64_t> vector) {
  const std::lock_guard guard(lock_);
  acquire_locked(vector);
}

// Positions that all ranks have seen by a barrier are left out. The words only grow.
bool Intervals::hand_over(std::span<const uint64_t> vector, int rank, uint64_t at) {
  std::vector<uint64_t> there(vector.size());
  config_.transport->get(there.data(), rank, at, vector.size_bytes());
  bool changed = false;
  for (size_t node = 0; node < vector.size(); ++node) {
    for (uint64_t old = there[node]; old < vector[node] && vector[node] > common_[node];) {
      const uint64_t now = config_.transport->words().compare_swap64(rank, at + node * sizeof old, old, vector[node]);
      changed = changed || now == old;
      old = now == old ? vector[node] : now;
    }
  }
  return changed;
}

// ---- flags ---------------------------------------------------------------------------------------------------------

// The vector must be there before the operation on the flag, so that a rank that sees the result sees the vector.
void Intervals::tell(int rank) {
  const std::lock_guard guard(lock_);
  tell_locked(rank);
}

void Intervals::tell_locked(int rank) {
  const uint64_t news = news_.load(std::memory_order_relaxed);
  if (told_[static_cast<size_t>(rank)].load(std::memory_order_relaxed) == news) return;
  copy_vector(joined_);
  hand_over(joined_, rank, config_.layout.flag_vector(rank));
  told_[static_cast<size_t>(rank)].store(news, std::memory_order_release);
}

// A thread marks the rank after its operation. So at its own sync() the mark is still there, or another thread has
// taken it and got the vector after the operation.
void Intervals::sync() {
  const std::lock_guard guard(lock_);
  release_locked();
  const size_t nodes = joined_.size();
  size_t found = 0;
  Completion all;
  for (int rank = 0; rank < config_.job.nranks; ++rank)
    found += looked_at_[static_cast<size_t>(rank)].load(std::memory_order_relaxed) ? 1 : 0;
  if (found == 0) return;
  with_flags_.resize(found * nodes + nodes);
  size_t next = 0;
  for (int rank = 0; rank < config_.job.nranks && next < found; ++rank) {
    if (!looked_at_[static_cast<size_t>(rank)].exchange(false)) continue;
    config_.transport->one_sided().start_get(&with_flags_[next++ * nodes], rank, config_.layout.flag_vector(rank),
                                             nodes * sizeof(uint64_t), all, nullptr);
  }
  config_.transport->one_sided().await(all);
  std::fill(joined_.begin(), joined_.end(), 0);
  for (size_t i = 0; i < next * nodes; ++i) joined_[i % nodes] = std::max(joined_[i % nodes], with_flags_[i]);
  acquire_locked(joined_);
}

// Programs that use only coarrays, or their own memory, pay for no flush.
void Intervals::release_to(int rank) {
  const std::lock_guard guard(lock_);
  if (untracked_ || !config_.pages->nothing_to_release()) release_locked();
  tell_locked(rank);
}

void Intervals::acquire_from(int rank) {
  const std::lock_guard guard(lock_);
  config_.transport->get(joined_.data(), rank, config_.layout.flag_vector(rank), joined_.size() * sizeof(uint64_t));
  acquire_locked(joined_);
}

// ---- barriers ------------------------------------------------------------------------------------------------------

namespace {
constexpr uint64_t barrier_range = uint64_t{1} << Intervals::barrier_bits;
}  // namespace

uint64_t Intervals::at_barrier() {
  if (!uncovered_) covered_ = log_.end();
  return covered_ % barrier_range;
}

// The least position of a node's ranks counts: the entries before it existed when each of them had made its notices.
// Positions are near the seen ones, on either side.
void Intervals::after_barrier(std::span<const uint64_t> covered) {
  for (int node = 0; node < config_.job.nnodes; ++node) {
    uint64_t& seen = seen_[static_cast<size_t>(node)];
    int64_t ahead = barrier_range;
    for (int r = config_.job.first_rank_of(node); r < config_.job.first_rank_of(node + 1); ++r) {
      const uint64_t distance = (covered[static_cast<size_t>(r)] - seen) % barrier_range;
      const bool before = distance >= barrier_range / 2;
      ahead = std::min(ahead, static_cast<int64_t>(distance) - (before ? static_cast<int64_t>(barrier_range) : 0));
    }
    uint64_t& common = common_[static_cast<size_t>(node)];
    common = std::max(common, seen + static_cast<uint64_t>(ahead));
    if (ahead <= 0) continue;
    seen += static_cast<uint64_t>(ahead);
    ++version_;
  }
}

}  // namespace hiroba
