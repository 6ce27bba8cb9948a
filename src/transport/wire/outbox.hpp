// Frames that leave by the wire. Frames that can wait are batched into one message with the next urgent frame to the
// same rank: a message costs far more than its bytes. Frames without room on the wire are queued, in order, and sent
// after a poll.
//
// Owner: the network transport. Everything is wire state (the engine's lock), except queued() and traffic().
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <span>
#include <vector>

#include "transport/transport.hpp"
#include "transport/wire/frames.hpp"
#include "transport/wire/keys.hpp"

namespace hiroba {

class Outbox {
 public:
  // `keys` and `wire_ranks`: by rank; must outlive this.
  void start(Wire* wire, const PairKeys* keys, const std::vector<int>* wire_ranks) {
    wire_ = wire, keys_ = keys, wire_ranks_ = wire_ranks;
  }
  // Batches at most max_inline bytes with the next message to the rank.
  void gather(int rank, Head head, const void* payload, size_t bytes);
  // Requests, in the next message, an answer when `count` puts of this rank have arrived. If the last batched frame for
  // that rank is a small put, it carries the request.
  void gather_flush(int rank, Head head, uint64_t count);
  // Sends a frame with a payload in two parts at once, up to the wire's largest.
  void send_alone(int rank, Head head, std::span<const char> payload, std::span<const char> rest);
  // Sends all batched frames.
  void send() {
    if (gathering_ > 0) send_all();
  }
  // Requires a poll before it. Sends queued frames again; returns true if it sent any.
  bool retry();
  size_t queued() const { return queued_.load(std::memory_order_relaxed); }

  // Counts a message. Bulk data bypasses this class, but is counted here.
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
  const PairKeys* keys_ = nullptr;
  const std::vector<int>* wire_ranks_ = nullptr;
  static constexpr size_t most_gathered = 4;  // ranks
  std::array<Message, most_gathered> gathered_;
  size_t gathering_ = 0;     // messages in gathered_ that hold frames
  std::vector<char> alone_;  // room for one frame
  std::deque<Queued> queue_;
  std::atomic<size_t> queued_{0};
  std::atomic<uint64_t> messages_{0}, bytes_{0};
};

}  // namespace hiroba
