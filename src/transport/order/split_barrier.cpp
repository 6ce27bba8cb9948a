#include "transport/order/split_barrier.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>

namespace hiroba {

void SplitBarrier::start(const Job& job, Board& board, Channel* channel) {
  job_ = job, channel_ = channel;
  const size_t n = static_cast<size_t>(job.nranks);
  const size_t stride = (4096 + 2 * n * sizeof(Entry) + 4095) / 4096 * 4096;
  shared_ = reinterpret_cast<Shared*>(reinterpret_cast<char*>(&board) + Board::transport_offset(job.nranks) +
                                      static_cast<size_t>(job.node) * stride);
  if (!job.leads()) return;
  for (auto& known : known_) known.resize(n);
  for (auto& here : here_) here.assign(n, 0);
}

template <typename Visit>
void SplitBarrier::for_ranks_of(int node, int nodes, const Visit& visit) const {
  node %= job_.nnodes;
  const int straight = std::min(nodes, job_.nnodes - node);
  visit(job_.first_rank_of(node), job_.first_rank_of(node + straight) - job_.first_rank_of(node));
  if (straight < nodes) visit(0, job_.first_rank_of(nodes - straight));
}

void SplitBarrier::arrive(uint64_t tag, uint64_t word, const PutCounts& puts) {
  entries()[job_.rank] = {tag, word, puts};
  const uint32_t here = shared_->arrivals.fetch_add(1) + 1;
  if (!job_.leads()) {
    if (shared_->leader_sleeps.load() != 0) futex_wake_all(shared_->arrivals);
  } else if (here == arrivals_of_all()) {
    begin();
  }
}

SplitBarrier::Outcome SplitBarrier::await(std::span<uint64_t> words, double timeout) {
  // The first rank of a node knows best which ranks are late, so it reports first; of these, the first node's.
  const double later = 0.5 * std::min(job_.node, 4) + (job_.leads() ? 0 : 1);
  const double limit = timeout == 0 ? std::numeric_limits<double>::infinity() : timeout + later;
  const double deadline = seconds_now() + limit;
  if (job_.leads()) {
    if (!lead(deadline)) return {};
  } else {
    const uint32_t done = static_cast<uint32_t>(sequence_ + 1);
    shared_->sleepers.fetch_add(1);
    const bool reached = channel_->engine().wait_word(
        shared_->generation, [done](uint32_t now) { return static_cast<int32_t>(now - done) >= 0; }, deadline);
    shared_->sleepers.fetch_sub(1);
    if (!reached) return {};
  }
  for (int r = 0; r < job_.nranks; ++r) words[r] = entries()[r].word;
  ++sequence_;
  return {true, shared_->a.load(), shared_->b.load()};
}

void SplitBarrier::await_node() {
  const uint32_t all = ++node_waits_ * static_cast<uint32_t>(job_.ranks_on(job_.node));
  if (shared_->node_waits.fetch_add(1) + 1 == all) futex_wake_all(shared_->node_waits);
  channel_->engine().wait_word(
      shared_->node_waits, [all](uint32_t now) { return static_cast<int32_t>(now - all) >= 0; },
      std::numeric_limits<double>::infinity());
}

bool SplitBarrier::lead(double deadline) {
  if (!begun_) {
    const uint32_t all = arrivals_of_all();
    shared_->leader_sleeps.store(1);
    const bool gathered =
        channel_->engine().wait_word(shared_->arrivals, [all](uint32_t now) { return now == all; }, deadline);
    shared_->leader_sleeps.store(0);
    if (!gathered) return false;
    begin();
  }
  if (!channel_->engine().wait([this] { return complete_.load(std::memory_order_acquire); }, deadline - seconds_now()))
    return false;
  publish();
  return true;
}

// Requires that all ranks of this node have arrived.
void SplitBarrier::begin() {
  begun_ = true;
  channel_->engine().with_wire([this] {
    for (int r = job_.first_rank_of(job_.node); r < job_.first_rank_of(job_.node + 1); ++r) {
      known_[half()][r] = entries()[r];
      here_[half()][r] = 1;
    }
    round_ = 0;
    advance();
  });
}

// Under the engine's lock: sends all rounds that the received ones allow.
void SplitBarrier::advance() {
  for (; round_ == 0 || ended(round_ - 1); ++round_) {
    const int distance = 1 << round_;
    if (distance >= job_.nnodes) return complete_.store(true, std::memory_order_release);
    const int count = std::min(distance, job_.nnodes - distance);
    send_round(round_, (job_.node - distance + job_.nnodes) % job_.nnodes, count);
  }
}

bool SplitBarrier::ended(int round) const {
  const int distance = 1 << round;
  uint32_t expected = 0;
  for_ranks_of(job_.node + distance, std::min(distance, job_.nnodes - distance),
               [&](int, int ranks) { expected += static_cast<uint32_t>(ranks); });
  return received_[half()][round] == expected;
}

void SplitBarrier::send_round(int round, int to_node, int nodes) {
  char payload[max_inline];
  size_t used = 0;
  const auto flush = [&] {
    channel_->send(job_.first_rank_of(to_node), head_of(Frame::barrier_round), payload, used);
    used = 0;
  };
  for_ranks_of(job_.node, nodes, [&](int first, int ranks) {
    for (int done = 0; done < ranks;) {
      if (used + sizeof(Part) + sizeof(Entry) > sizeof payload) flush();
      const int room = static_cast<int>((sizeof payload - used - sizeof(Part)) / sizeof(Entry));
      const int count = std::min(ranks - done, room);
      const Part part = {sequence_, static_cast<uint32_t>(round), static_cast<uint32_t>(first + done),
                         static_cast<uint32_t>(count), 0};
      const size_t bytes = static_cast<size_t>(count) * sizeof(Entry);
      std::memcpy(payload + used, &part, sizeof part);
      std::memcpy(payload + used + sizeof part, &known_[half()][static_cast<size_t>(first) + static_cast<size_t>(done)],
                  bytes);
      used += sizeof part + bytes;
      done += count;
    }
  });
  flush();
}

void SplitBarrier::receive(const Head& head, const char* payload) {
  Part part;
  for (size_t at = 0; at + sizeof part <= head.bytes;) {
    std::memcpy(&part, payload + at, sizeof part);
    at += sizeof part;
    const size_t first = part.first, count = part.count, half = part.sequence % 2;
    const size_t bytes = count * sizeof(Entry);
    assert(first + count <= known_[half].size() && at + bytes <= head.bytes && part.round < max_rounds);
    std::memcpy(&known_[half][first], payload + at, bytes);
    std::fill_n(here_[half].begin() + static_cast<ptrdiff_t>(first), count, uint8_t{1});
    received_[half][part.round] += part.count;
    at += bytes;
  }
  if (round_ >= 0) advance();
}

// Publishes the complete result to the ranks of this node.
void SplitBarrier::publish() {
  begun_ = false;
  const std::vector<Entry>& known = known_[half()];
  int a = -1, b = -1;
  for (size_t r = 1; r < known.size() && b < 0; ++r)
    if (known[r].tag != known[0].tag) a = 0, b = static_cast<int>(r);
  shared_->a.store(a), shared_->b.store(b);
  std::memcpy(entries(), known.data(), known.size() * sizeof(Entry));
  channel_->engine().with_wire([this] {
    std::fill(here_[half()].begin(), here_[half()].end(), uint8_t{0});
    std::fill_n(received_[half()], max_rounds, 0);
    round_ = -1;
    complete_.store(false, std::memory_order_relaxed);
  });
  shared_->generation.store(static_cast<uint32_t>(sequence_ + 1));
  if (shared_->sleepers.load() != 0) futex_wake_all(shared_->generation);
}

}  // namespace hiroba
