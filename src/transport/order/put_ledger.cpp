#include "transport/order/put_ledger.hpp"

#include <algorithm>
#include <mutex>

namespace hiroba {

using Guard = std::lock_guard<SignalSafeLock>;

void PutLedger::start(int nranks, Channel* channel) {
  channel_ = channel;
  puts_ = std::make_unique<Puts[]>(static_cast<size_t>(nranks));
  dirty_.reserve(static_cast<size_t>(nranks));
}

uint64_t PutLedger::number(int rank) {
  const Guard guard(lock_);
  Puts& puts = of(rank);
  if (!std::exchange(puts.dirty, true)) dirty_.push_back(rank);
  return ++puts.sent;
}

uint64_t PutLedger::number_if_only_to(int rank) const {
  const Guard guard(lock_);
  return dirty_.size() == 1 && dirty_[0] == rank ? of(rank).sent : 0;
}

bool PutLedger::fenced_but_for(std::span<const int> ranks) const {
  const Guard guard(lock_);
  return std::all_of(dirty_.begin(), dirty_.end(),
                     [&](int rank) { return std::find(ranks.begin(), ranks.end(), rank) != ranks.end(); });
}

bool PutLedger::count(std::span<PutCount> counts) const {
  const Guard guard(lock_);
  if (dirty_.size() > counts.size()) return false;
  for (size_t i = 0; i < dirty_.size(); ++i) counts[i] = {dirty_[i], static_cast<uint32_t>(of(dirty_[i]).sent)};
  return true;
}

void PutLedger::forget_clean() {
  std::erase_if(dirty_, [this](int rank) {
    Puts& puts = of(rank);
    puts.dirty = puts.acknowledged.load() < puts.sent;
    return !puts.dirty;
  });
}

void PutLedger::acknowledge(PutCount count) {
  const Guard guard(lock_);
  Puts& puts = of(count.rank);
  puts.acknowledged.store(puts.sent - (static_cast<uint32_t>(puts.sent) - count.count));
  forget_clean();
}

size_t PutLedger::due(std::span<Flush> out) const {
  const Guard guard(lock_);
  const size_t n = std::min(out.size(), dirty_.size());
  for (size_t i = 0; i < n; ++i) out[i] = {dirty_[i], of(dirty_[i]).sent};
  return n;
}

// Asks all ranks before it waits for the first answer.
bool PutLedger::fence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Flush asked[64];
  for (bool waited = false;; waited = true) {
    const size_t n = due(asked);
    if (n == 0) return waited;
    channel_->engine().with_wire([&] {
      for (size_t i = 0; i < n; ++i)
        channel_->outbox().gather_flush(asked[i].source, head_of(Frame::flush), asked[i].count);
      channel_->outbox().send();
    });
    for (size_t i = 0; i < n; ++i) {
      const Puts& puts = of(asked[i].source);
      channel_->engine().wait([&] { return puts.acknowledged.load(std::memory_order_acquire) >= asked[i].count; });
    }
    const Guard guard(lock_);
    forget_clean();
    if (n < std::size(asked)) return true;
  }
}

void PutLedger::serve_flushed(int source, uint64_t count) {
  std::atomic<uint64_t>& acknowledged = of(source).acknowledged;
  if (acknowledged.load() < count) acknowledged.store(count, std::memory_order_release);
}

void PutLedger::serve_flush(int source, uint64_t count) {
  if (!answer({source, count})) flushes_.push_back({source, count});
}

bool PutLedger::answer(const Flush& flush) {
  if (arrived_up_to(flush.source) < flush.count) return false;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Head head = head_of(Frame::flushed);
  head.count = flush.count;
  channel_->push(flush.source, head, nullptr, 0);
  return true;
}

bool PutLedger::answer_flushes() {
  if (flushes_.empty()) return false;
  return std::erase_if(flushes_, [this](const Flush& flush) { return answer(flush); }) > 0;
}

}  // namespace hiroba
