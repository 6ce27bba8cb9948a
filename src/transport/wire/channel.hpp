// Frames and bulk data to other ranks, and their answers: the wire, with the engine that drives it, the outbox and the
// transfers under way. The parts of the network transport send through it and wait in its engine.
//
// Owner: Net. Any thread may call, except functions that require the wire: the engine's lock, as in a hook of the wire.
// send, send_later, send_bulk and request_bulk block while there is no room; ask and await block.
#pragma once

#include <span>
#include <vector>

#include "transport/transport.hpp"
#include "transport/wire/engine.hpp"
#include "transport/wire/frames.hpp"
#include "transport/wire/outbox.hpp"
#include "transport/wire/transfers.hpp"

namespace hiroba {

class Channel {
 public:
  // `keys` and `wire_ranks`: by rank. Requires that all outlive this.
  void start(Wire* wire, const PairKeys* keys, const std::vector<int>* wire_ranks);

  Engine& engine() { return engine_; }
  Outbox& outbox() { return outbox_; }
  const Outbox& outbox() const { return outbox_; }
  Transfers& transfers() { return transfers_; }
  Wire& wire() { return *wire_; }
  int wire_rank(int rank) const { return (*wire_ranks_)[rank]; }

  // send() sends the frame at once. send_later() batches it with the next frame to that rank.
  void send(int rank, const Head& head, const void* payload, size_t bytes);
  // Sends a payload in two parts, up to the wire's largest frame.
  void send(int rank, const Head& head, std::span<const char> payload, std::span<const char> rest);
  void send_later(int rank, const Head& head, const void* payload, size_t bytes);
  void send_gathered();
  // Sends at once. Requires the wire.
  void push(int rank, const Head& head, const void* payload, size_t bytes);

  // Sends a frame that announces bulk data, and the data; `sent`: the data may change again.
  void send_bulk(int rank, Head head, const void* data, size_t bytes, Completion& sent);
  // Sends a frame that requests bulk data, and receives it. `deferred`: the other rank answers after its next barrier.
  void request_bulk(int rank, Head head, const void* payload, size_t payload_bytes, void* into, size_t bytes,
                    Completion& completion, bool deferred);
  // These require the wire. send_bulk_as(): the other side waits for this tag already. receive_bulk(): announced data.
  void send_bulk_as(int rank, uint32_t tag, const void* data, size_t bytes, uint64_t ticket);
  void receive_bulk(int rank, uint32_t tag, void* into, size_t bytes, uint64_t ticket);
  // Requires the wire. Tags of transfers to us and from us differ, because each side numbers its own.
  uint32_t next_tag(bool to_us) { return (tag_++ * 2 + (to_us ? 0 : 1)) % Wire::tags; }
  static uint32_t tag_after(uint32_t tag) { return (tag + 2) % Wire::tags; }
  // Blocks until another transfer may begin.
  void await_slot();
  void await(Completion& completion);

  // Sends the frame and waits for its answer, which is sent with answer(), or handed to take_answer() otherwise.
  struct Answer {
    std::atomic<uint32_t> here{0};
    uint64_t value = 0;
  };
  uint64_t ask(int rank, Head head);
  // These require the wire. answer() runs at the other side, take_answer() here.
  void answer(int source, const Head& asked, uint64_t value);
  static void take_answer(const Head& head, uint64_t value);

 private:
  void await_room();

  Wire* wire_ = nullptr;
  const std::vector<int>* wire_ranks_ = nullptr;
  Engine engine_;
  // These are wire state.
  Outbox outbox_;
  Transfers transfers_;
  uint32_t tag_ = 0;
};

}  // namespace hiroba
