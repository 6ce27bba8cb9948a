#include "transport/net/net_words.hpp"

#include <algorithm>

namespace hiroba {

uint64_t NetWords::perform_here(Operation operation, uint64_t at, uint64_t operand, uint64_t expected) const {
  const uint32_t operand32 = static_cast<uint32_t>(operand);
  uint32_t expected32 = static_cast<uint32_t>(expected);
  switch (operation) {
    case Operation::add64: return window_->word<uint64_t>(at).fetch_add(operand);
    case Operation::add32: return window_->word<uint32_t>(at).fetch_add(operand32);
    case Operation::swap64: window_->word<uint64_t>(at).compare_exchange_strong(expected, operand); return expected;
    case Operation::swap32:
      window_->word<uint32_t>(at).compare_exchange_strong(expected32, operand32);
      return expected32;
  }
  return 0;
}

uint64_t NetWords::perform(int rank, Operation operation, uint64_t at, uint64_t operand, uint64_t expected) {
  if (here(rank)) return perform_here(operation, at, operand, expected);
  Head head = head_of(Frame::atomic);
  head.handler = static_cast<uint8_t>(operation);
  head.offset = at, head.operand = operand, head.expected = expected;
  return channel_->ask(rank, head);
}

uint64_t NetWords::fetch_add64(int rank, uint64_t at, uint64_t value) {
  return perform(rank, Operation::add64, at, value, 0);
}
uint64_t NetWords::compare_swap64(int rank, uint64_t at, uint64_t expected, uint64_t desired) {
  return perform(rank, Operation::swap64, at, desired, expected);
}
uint32_t NetWords::fetch_add32(int rank, uint64_t at, uint32_t value) {
  return static_cast<uint32_t>(perform(rank, Operation::add32, at, value, 0));
}
uint32_t NetWords::compare_swap32(int rank, uint64_t at, uint32_t expected, uint32_t desired) {
  return static_cast<uint32_t>(perform(rank, Operation::swap32, at, desired, expected));
}

uint32_t NetWords::await_change(int rank, uint64_t at, uint32_t old, double seconds) {
  if (here(rank)) {
    std::atomic<uint32_t>& word = futex_at(at);
    channel_->engine().wait_word(word, [old](uint32_t now) { return now != old; }, seconds_now() + seconds);
    return word.load();
  }
  Head head = head_of(Frame::watch);
  head.offset = at, head.expected = old;
  head.operand = static_cast<uint64_t>(std::min(seconds, 1e3) * 1e6);
  return static_cast<uint32_t>(channel_->ask(rank, head));
}

// Waiters of this node sleep on the word itself; only the word's home knows remote ones.
void NetWords::wake(int rank, uint64_t at) {
  if (here(rank)) futex_wake_all(futex_at(at));
  if (job_->nnodes == 1) return;
  if (rank == job_->rank) return void(channel_->engine().drive());  // answers watches that are due
  Head head = head_of(Frame::wake);
  head.offset = at;
  channel_->send(rank, head, nullptr, 0);
}

void NetWords::serve_atomic(int source, const Head& head) {
  channel_->engine().note_served();
  const auto operation = static_cast<Operation>(head.handler);
  channel_->answer(source, head, perform_here(operation, head.offset, head.operand, head.expected));
}

void NetWords::serve_watch(int source, const Head& head) {
  watches_.push_back({source, head, seconds_now() + 1e-6 * static_cast<double>(head.operand)});
}

bool NetWords::answer_watches() {
  if (watches_.empty()) return false;
  const double now = seconds_now();
  return std::erase_if(watches_, [&](const Watch& watch) {
           const uint32_t word = window_->word<uint32_t>(watch.head.offset).load();
           if (word == static_cast<uint32_t>(watch.head.expected) && now < watch.deadline) return false;
           channel_->answer(watch.source, watch.head, word);
           return true;
         }) > 0;
}

}  // namespace hiroba
