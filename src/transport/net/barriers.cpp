// Waits of ranks for each other and for each other's puts: the split barrier of all, and the group barrier.
#include <unistd.h>

#include <algorithm>

#include "transport/net/net_transport.hpp"

namespace hiroba {

// ---- split barrier -------------------------------------------------------------------------------------------------

// The barrier counts puts under way, and their targets wait for them at its end; that saves a round trip. Puts to many
// ranks are fenced, as are all puts if gets are one-sided, because then a rank that has left the barrier may read at
// once.
SplitBarrier::PutCounts Net::count_puts() {
  SplitBarrier::PutCounts counts;
  access_.await_puts();
  if (access_.usable() || !ledger_.count(counts)) ledger_.fence();
  return counts;
}

// Requires a complete barrier. Waits until all puts to this node from before it have arrived.
void Net::await_counted_puts() {
  bool any_here = false;
  barrier_.for_each_put([&](int source, const PutCount& put) {
    any_here = any_here || here(put.rank);
    if (put.rank != config().job.rank) return;
    channel_.engine().wait([&] { return ledger_.have_arrived(source, put.count); });
  });
  if (any_here && config().job.ranks_on(config().job.node) > 1) barrier_.await_node();
  for (const PutCount& put : counted_)
    if (put.rank >= 0) ledger_.acknowledge(put);
}

void Net::start_barrier(uint64_t tag, uint64_t word) {
  counted_ = count_puts();
  if (config().job.ranks_on(config().job.node) > 1)
    channel_.send_gathered();  // else it is batched with the barrier's
                               // frame
  barrier_.arrive(tag, word, counted_);
  // README.md, "Barriers and epochs": a rank that has deferred gets for others gets no other requests.
  bool more = !gets_.asked_ahead();
  while (more) more = channel_.engine().drive();
}

Status Net::end_barrier(std::span<uint64_t> words) {
  const SplitBarrier::Outcome outcome = barrier_.await(words, config().timeout);
  const Job& job = config().job;
  if (outcome.complete && outcome.b < 0) {
    await_counted_puts();
    gets_.begin_epoch();
    return {};
  }
  if (outcome.complete) {
    const Status status = unequal(outcome.a, outcome.b, [this](int rank) { learn_place(rank); });
    await_others_report();
    return status;
  }
  std::vector<int> missing;
  const uint64_t calls = config().board->rank(job.rank).calls.load();
  for (int r = 0; r < job.nranks; ++r)
    if (here(r) ? config().board->rank(r).calls.load() < calls : job.leads() && !barrier_.heard_of(r)) {
      missing.push_back(r);
      learn_place(r);
    }
  return late(missing);
}

// Ranks of all nodes detect the error; those of the first node report it, and the launcher ends the others before they
// do: on a loaded machine within seconds. Drives meanwhile, because those that report ask where this rank is.
void Net::await_others_report() {
  constexpr double to_report = 5, of_launcher = 0.5;
  const int before = std::min(config().job.node, 4);
  if (before > 0) channel_.engine().wait([] { return false; }, to_report + before * of_launcher);
}

// Copies a remote rank's current call to our board, which error messages read. Tries for a second.
void Net::learn_place(int rank) {
  if (config().board->rank(rank).pid != 0) return;  // its own board is this one
  static Channel::Answer answer;                    // the answer may come after the wait
  answer.here.store(0);
  Head h = head_of(Frame::ask_place);
  h.completion = reinterpret_cast<uint64_t>(&answer);
  channel_.send(rank, h, nullptr, 0);
  channel_.engine().wait([&] { return answer.here.load(std::memory_order_acquire) != 0; }, 1);
}

// ---- group barrier -------------------------------------------------------------------------------------------------

// Ranks that share a node's memory see each other's puts without frames, so then all ranks make a barrier.
Status Net::group_barrier(uint64_t tag, std::span<const int> others) {
  const Job& job = config().job;
  if (job.nranks != job.nnodes) return RankBarriers::group_barrier(tag, others);
  access_.await_puts();
  if (!ledger_.fenced_but_for(access_.usable() ? std::span<const int>() : others)) ledger_.fence();
  if (const int late_rank = group_.wait(others, config().timeout); late_rank >= 0) {
    learn_place(late_rank);
    return late({{late_rank}});
  }
  gets_.begin_epoch();
  return {};
}

}  // namespace hiroba
