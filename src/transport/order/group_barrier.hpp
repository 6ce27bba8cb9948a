// A barrier among ranks that name each other: a frame each way contains the number of puts that its sender has made to
// the receiver, which waits for those. So no request or answer is needed. README.md, "Group barrier".
//
// Owner: Net. One thread of each rank calls wait(), which blocks; serve() requires the wire.
#pragma once

#include <memory>
#include <span>

#include "transport/order/put_ledger.hpp"
#include "transport/wire/channel.hpp"

namespace hiroba {

class GroupBarrier {
 public:
  void start(int nranks, Channel* channel, PutLedger* puts);
  // Requires fenced puts to all ranks outside `others`. Returns a rank that has not arrived within `timeout` seconds
  // (0: unlimited), or -1.
  int wait(std::span<const int> others, double timeout);
  void serve(int source, uint64_t count);

 private:
  struct Peer {
    uint64_t passes = 0, told = 0;               // our barriers with it; our puts to it at the last one
    std::atomic<uint64_t> arrivals{0}, puts{0};  // its arrivals; its puts to us
  };
  static_assert(sizeof(Peer) == 32, "docs/scaling.md says what is kept per rank: change it, too");
  Peer& of(int rank) { return peers_[rank]; }

  Channel* channel_ = nullptr;
  PutLedger* puts_ = nullptr;
  std::unique_ptr<Peer[]> peers_;
};

}  // namespace hiroba
