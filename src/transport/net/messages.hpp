// Messages of the contract: a handler runs at the target when the puts that the message names have arrived there.
//
// Owner: Net. Any thread may call, except those that require the wire. send() blocks while there is no room.
#pragma once

#include <vector>

#include "transport/order/put_ledger.hpp"
#include "transport/wire/channel.hpp"

namespace hiroba {

class Messages {
 public:
  struct Handlers {
    const void* context;
    void (*run)(const void* context, int handler, int source, const void* payload, size_t bytes);
  };
  void start(Channel* channel, const PutLedger* ledger, const Handlers& handlers) {
    channel_ = channel, ledger_ = ledger, handlers_ = handlers;
  }

  // `after`: the handler runs when this rank's puts to that rank up to this number have arrived.
  void send(int rank, int handler, const void* payload, size_t bytes, uint64_t after);

  // These require the wire.
  void serve(int source, const Head& head, const char* payload, size_t bytes);
  // Runs the handler of a message, or of an active message on a get.
  void run(const Head& head, int source, const char* payload, size_t bytes) const {
    handlers_.run(handlers_.context, head.handler, source, payload, bytes);
  }
  // Runs the handlers of messages whose puts have arrived; requires a poll before it. Returns true if any ran.
  bool serve_early();

 private:
  // A message that has overtaken puts of its sender.
  struct Early {
    int source;
    Head head;
    std::vector<char> payload;
  };

  Channel* channel_ = nullptr;
  const PutLedger* ledger_ = nullptr;
  Handlers handlers_ = {};
  std::vector<Early> early_;  // wire state
};

}  // namespace hiroba
