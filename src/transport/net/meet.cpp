// Where ranks wait for each other and for each other's puts: exchanges, which are of all, and meetings of some only.
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "transport/net/net_transport.hpp"

namespace hiroba {

// ---- exchange ------------------------------------------------------------------------------------------------------

// The puts that are still on their way are counted in the exchange, and whoever they go to waits for them at its end;
// that saves asking and answering. With many such ranks, it is a fence as ever; and where others get without asking,
// because then whoever has left the exchange may read at once.
Meeting::PutCounts Net::count_puts() {
  Meeting::PutCounts counts;
  await_remote_puts();
  dirty_lock_.lock();
  const bool few = dirty_.size() <= counts.size() && !remote_.usable();
  for (size_t i = 0; few && i < dirty_.size(); ++i)
    counts[i] = {dirty_[i], static_cast<uint32_t>(puts_[static_cast<size_t>(dirty_[i])].sent)};
  dirty_lock_.unlock();
  if (!few) fence();
  return counts;
}

// After an exchange: everything that was put to this node before it is here, and everybody's memory may be asked for.
void Net::settle() {
  bool any_here = false;
  meeting_.for_each_put([&](int source, const Meeting::PutCount& put) {
    any_here = any_here || here(put.rank);
    if (put.rank != config().job.rank) return;
    const ArrivedPuts& arrived = puts_[static_cast<size_t>(source)].arrived;
    engine_.wait([&] { return static_cast<int32_t>(static_cast<uint32_t>(arrived.all_up_to()) - put.count) >= 0; });
  });
  if (any_here && config().job.ranks_on(config().job.node) > 1) meeting_.settle();
  dirty_lock_.lock();  // what was counted needs no fence any more
  for (const Meeting::PutCount& put : counted_) {
    if (put.rank < 0) continue;
    Puts& puts = puts_[static_cast<size_t>(put.rank)];
    puts.flushed.store(puts.sent - (static_cast<uint32_t>(puts.sent) - put.count));
  }
  forget_clean();
  dirty_lock_.unlock();
  pass_exchange();
}

// What has been asked for ahead can be answered.
void Net::pass_exchange() {
  epoch_.fetch_add(1);
  coming_.store(0, std::memory_order_relaxed);
  const bool asked = deferred_count_.load() != 0;
  asked_ahead_.store(asked || std::exchange(sends_unasked_, false), std::memory_order_relaxed);
  if (asked) engine_.with_wire([this] { serve_deferred(); });
}

void Net::start_exchange(uint64_t tag, uint64_t word) {
  const uint64_t unasked = depart(tag);
  counted_ = count_puts();
  if (config().job.ranks_on(config().job.node) > 1) send_gathered();  // else it goes along
  const Change change = take_change();
  const bool plain = word == 0 && counted_[0].rank < 0 && change.rank == Change::nobody;
  const bool told = plan_unasked(tag) && plain;
  meeting_.arrive(tag, word, counted_, change, told);
  send_unasked(plain);
  // README.md, "Exchanges and epochs". Where this rank has been asked ahead, it is not asked otherwise.
  constexpr uint64_t much = 64 << 10;
  bool more = unasked >= much || !asked_ahead_.load(std::memory_order_relaxed);
  while (more) more = engine_.drive();
}

Status Net::end_exchange(std::span<uint64_t> words) {
  const Meeting::Outcome outcome = meeting_.await(words, config().timeout);
  const Job& job = config().job;
  if (outcome.complete && outcome.b < 0) {
    settle();
    return {};
  }
  if (outcome.complete) {
    for (const int rank : {outcome.a, outcome.b}) learn_place(rank);
    await_others_report();
    return unequal(config(), outcome.a, outcome.b);
  }
  std::vector<int> missing;
  const uint64_t calls = config().board->rank(job.rank).calls.load();
  const bool leader = job.rank == job.first_rank_of(job.node);
  for (int r = 0; r < job.nranks; ++r)
    if (here(r) ? config().board->rank(r).calls.load() < calls : leader && !meeting_.heard_of(r)) {
      missing.push_back(r);
      learn_place(r);
    }
  return late(config(), missing);
}

// When ranks of all nodes know what is wrong, those of the first node say it, and the launcher ends the others before
// they do.
void Net::await_others_report() { usleep(static_cast<useconds_t>(std::min(config().job.node, 4)) * 500000); }

// Copies what a rank elsewhere says of itself to our board, from where messages take it. Tries for a second.
void Net::learn_place(int rank) {
  if (here(rank)) return;
  static Answer answer;  // may come when nobody waits for it any more
  answer.here.store(0);
  Head h = head(Frame::ask_place);
  h.completion = reinterpret_cast<uint64_t>(&answer);
  send_frame(rank, h, nullptr, 0);
  engine_.wait([&] { return answer.here.load(std::memory_order_acquire) != 0; }, 1);
}

// ---- meeting some ranks only -------------------------------------------------------------------------------------

// A frame to each says that this rank has come, and how many puts it has made to that one; the other waits for those,
// so nothing is asked or answered. Ranks that share a node's memory see each other's puts by other means, so then all
// meet.
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
    engine_.wait([&] { return puts.arrived.all_up_to() >= puts.counted.load(); });
  }
  dirty_lock_.lock();  // what was counted needs no fence any more
  for (const int rank : others) puts_[static_cast<size_t>(rank)].flushed.store(puts_[static_cast<size_t>(rank)].told);
  forget_clean();
  dirty_lock_.unlock();
  pass_exchange();
  return {};
}

}  // namespace hiroba
