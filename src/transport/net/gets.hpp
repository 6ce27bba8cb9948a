// Gets by requests, of memory and of boxes, and their answers, each at the epoch that its get needs (README.md,
// "Barriers and epochs").
//
// Owner: Net. Any thread may call, except those that require the wire; the thread that makes barriers calls
// begin_epoch(). get_box() blocks until the data is here, the others while there is no room.
#pragma once

#include <atomic>

#include "transport/net/deferred_gets.hpp"
#include "transport/net/messages.hpp"
#include "transport/window.hpp"
#include "transport/wire/channel.hpp"

namespace hiroba {

class Gets {
 public:
  void start(Channel* channel, const Window* window, const Messages* messages) {
    channel_ = channel, window_ = window, messages_ = messages;
  }

  // Gets memory of other nodes; `piggyback` may be null.
  void get(void* to, int rank, uint64_t from, size_t bytes, Completion& completion, const Piggyback* piggyback) {
    request_pieces(to, rank, from, bytes, completion, piggyback, deferred_.epoch());
  }
  // Gets the data as of the next barrier.
  void get_deferred(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                    const Piggyback* piggyback) {
    request_pieces(to, rank, from, bytes, completion, piggyback, deferred_.epoch() + 1);
  }
  void get_box(char* to, int rank, uint64_t from, const Walk& walk);

  // Requires a passed barrier. Answers the gets that were deferred to it.
  void begin_epoch();
  // Returns true if others sent their gets for this epoch before its barrier.
  bool asked_ahead() const { return asked_ahead_.load(std::memory_order_relaxed); }

  // These require the wire.
  void serve(int source, const Head& head, const char* payload, size_t bytes);
  static void serve_got(const Head& head, const char* payload, size_t bytes);
  // Requires the wire, after a poll. Answers the gets that are due.
  void serve_due();

 private:
  void request_pieces(void* to, int rank, uint64_t from, size_t bytes, Completion& completion,
                      const Piggyback* piggyback, uint32_t epoch);
  void request(int rank, Head head, void* into, size_t bytes, Completion& completion, const void* payload,
               size_t payload_bytes);
  void answer(int source, const Head& head, const char* payload);
  void answer_box(int source, const Head& head, const char* payload);
  void send_data(int source, const Head& head, const char* data);
  void send_frame(int source, const Head& asked, const void* data, size_t bytes);

  Channel* channel_ = nullptr;
  const Window* window_ = nullptr;
  const Messages* messages_ = nullptr;
  DeferredGets deferred_;
  std::atomic<bool> asked_ahead_{false};  // the state at the last barrier
};

}  // namespace hiroba
