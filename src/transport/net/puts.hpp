// Puts by frames and bulk data: plain ones, pieces and boxes, and their arrival in memory of this node. The put ledger
// has their numbers, and the numbers that have arrived.
//
// Owner: Net. Any thread may call, except those that require the wire. put_box() blocks until its source may be
// changed, the others while there is no room.
#pragma once

#include <span>

#include "transport/order/put_ledger.hpp"
#include "transport/window.hpp"
#include "transport/wire/channel.hpp"

namespace hiroba {

class Puts {
 public:
  void start(Channel* channel, const Window* window, PutLedger* ledger) {
    channel_ = channel, window_ = window, ledger_ = ledger;
  }

  // Put to memory of other nodes; the source must not change until the completion.
  void put(int rank, uint64_t to, const void* from, size_t bytes, Completion& sent);
  void put_packed(int rank, std::span<const PackedWord> pieces, Completion& sent);
  void put_box(int rank, uint64_t to, const char* from, const Walk& walk);
  // The pieces to memory of this node.
  void scatter(std::span<const PackedWord> pieces) const;

  // These require the wire.
  void serve(int source, const Head& head, const char* payload);

 private:
  void receive(int source, const Head& head);
  void arrived(int source, uint64_t number);
  void unpack(uint64_t to, const char* packed) const;

  Channel* channel_ = nullptr;
  const Window* window_ = nullptr;
  PutLedger* ledger_ = nullptr;
};

}  // namespace hiroba
