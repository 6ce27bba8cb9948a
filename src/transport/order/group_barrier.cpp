#include "transport/order/group_barrier.hpp"

#include <limits>

namespace hiroba {

void GroupBarrier::start(int nranks, Channel* channel, PutLedger* puts) {
  channel_ = channel, puts_ = puts;
  peers_ = std::make_unique<Peer[]>(static_cast<size_t>(nranks));
}

int GroupBarrier::wait(std::span<const int> others, double timeout) {
  for (const int rank : others) {
    Peer& peer = of(rank);
    ++peer.passes;
    Head head = head_of(Frame::group_arrival);
    head.count = peer.told = puts_->sent(rank);
    channel_->send_later(rank, head, nullptr, 0);
  }
  channel_->send_gathered();
  const double deadline = seconds_now() + (timeout > 0 ? timeout : std::numeric_limits<double>::infinity());
  for (const int rank : others) {
    const Peer& peer = of(rank);
    const auto come = [&] { return peer.arrivals.load(std::memory_order_acquire) >= peer.passes; };
    if (!channel_->engine().wait(come, deadline - seconds_now())) return rank;
    channel_->engine().wait([&] { return puts_->arrived_up_to(rank) >= peer.puts.load(); });
  }
  for (const int rank : others) puts_->acknowledge({rank, static_cast<uint32_t>(of(rank).told)});
  return -1;
}

void GroupBarrier::serve(int source, uint64_t count) {
  Peer& peer = of(source);
  if (peer.puts.load() < count) peer.puts.store(count);  // arrivals may overtake each other
  peer.arrivals.fetch_add(1, std::memory_order_release);
}

}  // namespace hiroba
