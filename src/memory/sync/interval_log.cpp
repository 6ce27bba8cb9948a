#include "memory/sync/interval_log.hpp"

#include <algorithm>
#include <atomic>

#include "base/wait.hpp"

namespace hiroba {

namespace {
// Offsets in a log: the end of the reserved positions, and the end of the published ones.
constexpr uint64_t reserved_at = 0, published_at = 64;
}  // namespace

void IntervalLog::start(char* base, const Layout& layout, const Job& job, Transport* transport) {
  base_ = base, layout_ = layout, job_ = job, transport_ = transport;
  writer_ = std::min(shared_writer, static_cast<uint64_t>(job.rank - job.first_rank_of(job.node)));
}

// A reader of an overwritten entry then reads a count that includes the overwriting one.
uint64_t IntervalLog::reserve(uint64_t count) const {
  const uint64_t begin = word(log_of(job_.node) + reserved_at).fetch_add(count);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return begin;
}

// Publishes in the order of reservations, so that all entries before a published position are complete.
uint64_t IntervalLog::publish(uint64_t begin, uint64_t end) const {
  const auto published = word(log_of(job_.node) + published_at);
  for (Backoff backoff(1000); published.load(std::memory_order_acquire) != begin;)
    if (!backoff.step()) Backoff::yield();
  published.store(end, std::memory_order_release);
  return end;
}

uint64_t IntervalLog::append(std::span<const Notice> entries) {
  if (entries.empty()) return end();
  if (entries.size() > Layout::interval_slots / 4) return append_all();
  const int keeper = job_.first_rank_of(job_.node);
  const uint64_t begin = reserve(entries.size());
  for (size_t i = 0; i < entries.size(); ++i)
    word(layout_.interval_slot(keeper, begin + i))
        .store(writer_ << writer_shift | entries[i].word, std::memory_order_relaxed);
  return publish(begin, begin + entries.size());
}

uint64_t IntervalLog::append_all() {
  const uint64_t begin = reserve(1);
  word(layout_.interval_slot(job_.first_rank_of(job_.node), begin))
      .store(writer_ << writer_shift, std::memory_order_relaxed);
  return publish(begin, begin + 1);
}

uint64_t IntervalLog::end() const { return word(log_of(job_.node) + published_at).load(std::memory_order_acquire); }

// The counts of reserved positions are read after the entries: if one shows that none of its log's had been
// overwritten, none had been when they were read.
bool IntervalLog::read(std::span<const Part> parts, std::vector<Notice>& out) {
  constexpr uint64_t slots = Layout::interval_slots;
  uint64_t total = 0;
  for (const Part& part : parts) {
    if (part.to - part.from > slots) return false;
    total += part.to - part.from;
  }
  incoming_.resize(total);
  reserved_.resize(parts.size());
  Completion entries, counts;
  Notice* into = incoming_.data();
  for (const auto& [node, from, to] : parts) {
    const int keeper = job_.first_rank_of(node);
    for (uint64_t at = from, count = 0; at < to; at += count, into += count) {
      count = std::min(to - at, slots - at % slots);
      transport_->one_sided().start_get(into, keeper, layout_.interval_slot(keeper, at), count * sizeof(Notice),
                                        entries, nullptr);
    }
  }
  transport_->one_sided().await(entries);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (size_t i = 0; i < parts.size(); ++i)
    transport_->one_sided().start_get(&reserved_[i], job_.first_rank_of(parts[i].node),
                                      log_of(parts[i].node) + reserved_at, sizeof reserved_[i], counts, nullptr);
  transport_->one_sided().await(counts);
  std::span<const Notice> rest(incoming_);
  for (size_t i = 0; i < parts.size(); ++i) {
    const uint64_t count = parts[i].to - parts[i].from;
    if (reserved_[i] - parts[i].from > slots || !take(parts[i], rest.first(count), out)) return false;
    rest = rest.subspan(count);
  }
  return true;
}

bool IntervalLog::take(const Part& part, std::span<const Notice> entries, std::vector<Notice>& out) const {
  for (const Notice entry : entries) {
    const uint64_t writer = entry.word >> writer_shift;
    if (part.node == job_.node && writer == writer_ && writer != shared_writer) continue;
    if (entry.pages() == 0) return false;
    out.push_back(Notice::make(entry.page(), entry.pages()));
  }
  return true;
}

}  // namespace hiroba
