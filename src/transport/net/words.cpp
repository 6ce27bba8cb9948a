#include "transport/net/words.hpp"

#include <algorithm>

namespace hiroba {

uint64_t Words::perform_here(Operation operation, uint64_t at, uint64_t operand, uint64_t expected) const {
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

uint64_t Words::perform(int rank, Operation operation, uint64_t at, uint64_t operand, uint64_t expected) {
  Head head = head_of(Frame::atomic);
  head.handler = static_cast<uint8_t>(operation);
  head.offset = at, head.operand = operand, head.expected = expected;
  return channel_->ask(rank, head);
}

uint32_t Words::await_change_here(uint64_t at, uint32_t old, double seconds) {
  std::atomic<uint32_t>& word = futex_at(at);
  channel_->engine().wait_word(word, [old](uint32_t now) { return now != old; }, seconds_now() + seconds);
  return word.load();
}

uint32_t Words::await_change(int rank, uint64_t at, uint32_t old, double seconds) {
  Head head = head_of(Frame::watch);
  head.offset = at, head.expected = old;
  head.operand = static_cast<uint64_t>(std::min(seconds, 1e3) * 1e6);
  return static_cast<uint32_t>(channel_->ask(rank, head));
}

void Words::wake_here(uint64_t at) const { futex_wake_all(futex_at(at)); }

void Words::wake(int rank, uint64_t at) {
  Head head = head_of(Frame::wake);
  head.offset = at;
  channel_->send(rank, head, nullptr, 0);
}

void Words::serve_atomic(int source, const Head& head) {
  channel_->engine().note_served();
  const auto operation = static_cast<Operation>(head.handler);
  channel_->answer(source, head, perform_here(operation, head.offset, head.operand, head.expected));
}

void Words::serve_watch(int source, const Head& head) {
  watches_.push_back({source, head, seconds_now() + 1e-6 * static_cast<double>(head.operand)});
}

bool Words::answer_watches() {
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
