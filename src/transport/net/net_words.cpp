#include "transport/net/net_words.hpp"

#include <algorithm>

namespace hiroba {

uint64_t NetWords::perform(int rank, Operation operation, uint64_t at, uint64_t operand, uint64_t expected) {
  if (here(rank)) return perform_here(window_->at(at), operation, operand, expected);
  Head head = head_of(Frame::atomic);
  head.handler = static_cast<uint8_t>(operation);
  head.offset = at, head.operand = operand, head.expected = expected;
  return channel_->ask(rank, head);
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
  channel_->answer(source, head, perform_here(window_->at(head.offset), operation, head.operand, head.expected));
}

void NetWords::serve_watch(int source, const Head& head) {
  watches_.push_back({source, head, seconds_now() + 1e-6 * static_cast<double>(head.operand)});
}

bool NetWords::answer_watches() {
  if (watches_.empty()) return false;
  const double now = seconds_now();
  return std::erase_if(watches_, [&](const Watch& watch) {
           const uint32_t word = futex_at(watch.head.offset).load();
           if (word == static_cast<uint32_t>(watch.head.expected) && now < watch.deadline) return false;
           channel_->answer(watch.source, watch.head, word);
           return true;
         }) > 0;
}

}  // namespace hiroba
