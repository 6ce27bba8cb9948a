// A barrier among ranks that name each other: a frame each way, that says how many puts its sender has made to the
// receiver, who waits for those. So nothing is asked or answered. README.md, "Group barrier".
//
// Owner: Net. wait() is called by one thread of each rank, and blocks; serve() with the wire.
#pragma once

#include <memory>
#include <span>

#include "transport/order/put_ledger.hpp"
#include "transport/wire/channel.hpp"

namespace hiroba {

class GroupBarrier {
 public:
  void start(int nranks, Channel* channel, PutLedger* puts);
  // All puts to ranks that are not among the others must have been fenced. Returns a rank that has not arrived within
  // `timeout` seconds (0: for ever), or -1.
  int wait(std::span<const int> others, double timeout);
  void serve(int source, uint64_t count);

 private:
  struct Peer {
    uint64_t passes = 0, told = 0;               // of ours with it; how many of our puts, the last time
    std::atomic<uint64_t> arrivals{0}, puts{0};  // how often it has come, and with how many puts to us
  };
  static_assert(sizeof(Peer) == 32, "docs/scaling.md says what is kept per rank: change it, too");
  Peer& of(int rank) { return peers_[static_cast<size_t>(rank)]; }

  Channel* channel_ = nullptr;
  PutLedger* puts_ = nullptr;
  std::unique_ptr<Peer[]> peers_;
};

}  // namespace hiroba
