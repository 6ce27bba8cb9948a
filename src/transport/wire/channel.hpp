// Frames and bulk data to other ranks, and answers from them: the wire, with the engine that drives it, the outbox and
// the transfers under way. The parts of the network transport send through it and wait in its engine.
//
// Owner: Net. Threads: any, but for what says "with the wire": under the engine's lock, as in a hook of the wire.
// Blocks: send, send_later, send_bulk and request_bulk while there is no room; ask and await.
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
  // `wire_ranks`: by rank. Wire and numbers must outlive this.
  void start(Wire* wire, uint64_t secret, const std::vector<int>* wire_ranks);

  Engine& engine() { return engine_; }
  Outbox& outbox() { return outbox_; }
  const Outbox& outbox() const { return outbox_; }
  Transfers& transfers() { return transfers_; }
  Wire& wire() { return *wire_; }
  int wire_rank(int rank) const { return (*wire_ranks_)[static_cast<size_t>(rank)]; }

  // The frame goes at once; or with the next that does, for what nobody misses before.
  void send(int rank, const Head& head, const void* payload, size_t bytes);
  // Its payload in two parts, up to the wire's largest frame.
  void send(int rank, const Head& head, std::span<const char> payload, std::span<const char> rest);
  void send_later(int rank, const Head& head, const void* payload, size_t bytes);
  void send_gathered();
  // With the wire.
  void push(int rank, const Head& head, const void* payload, size_t bytes);

  // A frame that announces bulk data, and the data; `sent`: the data may be changed again.
  void send_bulk(int rank, Head head, const void* data, size_t bytes, Completion& sent);
  // A frame that requests bulk data, and its receipt. `deferred`: the other rank answers after its next barrier.
  void request_bulk(int rank, Head head, const void* payload, size_t payload_bytes, void* into, size_t bytes,
                    Completion& completion, bool deferred);
  // With the wire: data that the other side waits for with this tag already; data that is announced.
  void send_bulk_as(int rank, uint32_t tag, const void* data, size_t bytes, uint64_t ticket);
  void receive_bulk(int rank, uint32_t tag, void* into, size_t bytes, uint64_t ticket);
  // With the wire. Tags of transfers to us and from us differ, because each side numbers its own.
  uint32_t next_tag(bool to_us) { return (tag_++ * 2 + (to_us ? 0 : 1)) % Wire::tags; }
  static uint32_t tag_after(uint32_t tag) { return (tag + 2) % Wire::tags; }
  // Until another transfer may begin.
  void await_slot();
  void await(Completion& completion);

  // Sends the frame and waits for one that is answered with answer(), or handed to take_answer() otherwise.
  struct Answer {
    std::atomic<uint32_t> here{0};
    uint64_t value = 0;
  };
  uint64_t ask(int rank, Head head);
  // With the wire: at the other side, and back here.
  void answer(int source, const Head& asked, uint64_t value);
  static void take_answer(const Head& head, uint64_t value);

 private:
  void await_room();

  Wire* wire_ = nullptr;
  const std::vector<int>* wire_ranks_ = nullptr;
  Engine engine_;
  // Wire state.
  Outbox outbox_;
  Transfers transfers_;
  uint32_t tag_ = 0;
};

}  // namespace hiroba
