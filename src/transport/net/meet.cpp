// Meeting some ranks only. A frame to each says that this rank has come, and how many puts it has made to that one; the
// other waits for those, so nothing is asked or answered.
#include "transport/net/net_transport.hpp"

namespace hiroba {

// Ranks that share a node's memory see each other's puts by other means, so then all meet.
Status Net::meet(uint64_t tag, std::span<const int> others) {
  const Job& job = config().job;
  if (job.nranks != job.nnodes) return Transport::meet(tag, others);
  await_remote_puts();
  dirty_lock_.lock();
  bool fences = remote_.usable() && !dirty_.empty();  // as in an exchange
  for (const int rank : dirty_) fences = fences || std::find(others.begin(), others.end(), rank) == others.end();
  dirty_lock_.unlock();
  if (fences) fence();
  for (const int rank : others) {
    Puts& puts = puts_[static_cast<size_t>(rank)];
    ++puts.meetings;
    Head h = head(Frame::met);
    h.count = puts.told = puts.sent;
    gather(rank, h, nullptr, 0);
  }
  send_gathered();
  const double limit = config().timeout > 0 ? config().timeout : std::numeric_limits<double>::infinity();
  const double deadline = seconds_now() + limit;
  for (const int rank : others) {
    const Puts& puts = puts_[static_cast<size_t>(rank)];
    const auto here = [&] { return puts.come.load(std::memory_order_acquire) >= puts.meetings; };
    if (!engine_.wait(here, deadline - seconds_now())) {
      learn_place(rank);
      return late(config(), {{rank}});
    }
    engine_.wait([&] { return puts.arrived.load() >= puts.counted.load(); });
  }
  dirty_lock_.lock();  // what was counted needs no fence any more
  for (const int rank : others) puts_[static_cast<size_t>(rank)].flushed.store(puts_[static_cast<size_t>(rank)].told);
  forget_clean();
  dirty_lock_.unlock();
  pass_exchange();
  return {};
}

}  // namespace hiroba
