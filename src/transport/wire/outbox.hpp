// Frames on their way to the wire. What need not go at once is gathered, and goes in one message with the next frame
// for the same rank that must: a message costs far more than the bytes in it. What finds no room on the wire is queued,
// in order to be sent after a poll.
//
// Owner: the network transport. Everything is wire state (the engine's lock) but queued() and traffic().
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <span>
#include <vector>

#include "transport/transport.hpp"
#include "transport/wire/frames.hpp"

namespace hiroba {

class Outbox {
 public:
  // `wire_ranks` by rank; must outlive this.
  void start(Wire* wire, uint64_t secret, const std::vector<int>* wire_ranks) {
    wire_ = wire, secret_ = secret, wire_ranks_ = wire_ranks;
  }
  // To be sent with what is sent next. At most max_inline bytes.
  void gather(int rank, Head head, const void* payload, size_t bytes);
  // To ask, with what is sent next, for an answer when `count` puts of this rank have come: if the last that has been
  // gathered for that rank is a small put, it asks so itself.
  void gather_flush(int rank, Head head, uint64_t count);
  // A frame whose payload is in two parts, at once: up to the wire's largest.
  void send_alone(int rank, Head head, std::span<const char> payload, std::span<const char> rest);
  // Sends all that has been gathered.
  void send() {
    if (gathering_ > 0) send_all();
  }
  // After a poll: tries again what found no room; true if it sent anything.
  bool retry();
  size_t queued() const { return queued_.load(std::memory_order_relaxed); }

  // Bulk data goes past this, but is counted here.
  void count(size_t bytes) {
    messages_.fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  Transport::Traffic traffic() const { return {messages_.load(), bytes_.load()}; }

 private:
  // Frames for one rank.
  struct Message {
    int rank;
    size_t size = 0, last = 0;  // the last head is at bytes + last
    char bytes[Wire::max_frame];
  };
  struct Queued {
    int rank;
    std::vector<char> bytes;
  };
  void send_all();
  void dispatch(Message& message);
  void dispatch(int rank, const char* bytes, size_t size);

  Wire* wire_ = nullptr;
  uint64_t secret_ = 0;
  const std::vector<int>* wire_ranks_ = nullptr;
  static constexpr size_t most_gathered = 4;  // ranks
  std::array<Message, most_gathered> gathered_;
  size_t gathering_ = 0;     // of these, how many hold anything
  std::vector<char> alone_;  // room for one frame
  std::deque<Queued> queue_;
  std::atomic<size_t> queued_{0};
  std::atomic<uint64_t> messages_{0}, bytes_{0};
};

}  // namespace hiroba
