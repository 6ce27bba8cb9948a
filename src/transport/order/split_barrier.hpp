// The split barrier of all ranks over nodes, which gives every rank a word of every rank: within a node through shared
// memory, between nodes through frames among the first ranks of the nodes, in ceil(log2(nodes)) rounds (Bruck's
// all-gather: in round k a node sends all that it knows to the node 2^k before it and learns as much from the one 2^k
// after it). The thread that handles the last frame of a round sends the next round, so rounds proceed while the ranks
// compute between arrive() and await().
//
// Owner: Net. One thread of each rank calls arrive() and await(), in turn; receive() requires the engine's lock. A node
// can be at most one barrier ahead of another, so two generations of everything suffice.
#pragma once

#include <array>
#include <atomic>
#include <span>
#include <vector>

#include "base/job.hpp"
#include "transport/order/put_ledger.hpp"
#include "transport/wire/channel.hpp"

namespace hiroba {

class SplitBarrier {
 public:
  struct Outcome {
    bool complete = false;  // false: timeout
    int a = -1, b = -1;     // two ranks whose tags differ, if b >= 0
  };

  void start(const Job& job, Board& board, Channel* channel);
  // Counts of unfenced puts.
  static constexpr size_t most_put_counts = 2;
  using PutCounts = std::array<PutCount, most_put_counts>;
  // Records this rank's arrival without waiting.
  void arrive(uint64_t tag, uint64_t word, const PutCounts& puts);
  // Waits until all have arrived. `timeout` in seconds, 0: unlimited. words[r] becomes rank r's word.
  Outcome await(std::span<uint64_t> words, double timeout);
  // Calls visit(source, put count) for each count in the last barrier.
  template <typename Visit>
  void for_each_put(const Visit& visit) const {
    const Entry* const last = entries(sequence_ - 1);
    for (int r = 0; r < job_.nranks; ++r)
      for (const PutCount& put : last[r].puts)
        if (put.rank >= 0) visit(r, put);
  }
  // Waits until all ranks of this node have called it as often as this one.
  void await_node();
  void receive(const Head& head, const char* payload);
  // At the first rank of a node: returns true if the rank's arrival at the barrier under way is known.
  bool heard_of(int rank) const { return here_[half()][rank] != 0; }

 private:
  struct Entry {
    uint64_t tag, word;
    PutCounts puts;
  };
  static_assert(sizeof(Entry) == 32, "docs/scaling.md says what a barrier sends and keeps per rank: change it, too");
  // Shared in the board, one per node; two generations of entries for all ranks follow at offset 4096.
  struct Shared {
    alignas(64) std::atomic<uint32_t> arrivals;  // of this node's ranks in all barriers together (futex)
    std::atomic<uint32_t> leader_sleeps;
    alignas(64) std::atomic<uint32_t> generation;  // barriers completed (futex)
    std::atomic<uint32_t> sleepers;
    std::atomic<int32_t> a, b;
    std::atomic<uint32_t> node_waits;  // calls of await_node() (futex)
  };
  // Frames hold one or more of these, each followed by the entries of `count` ranks from `first` on.
  struct Part {
    uint64_t sequence;
    uint32_t round, first, count, reserved;
  };
  static constexpr int max_rounds = 32;

  size_t half() const { return sequence_ % 2; }
  Entry* entries(uint64_t sequence) const {
    return reinterpret_cast<Entry*>(reinterpret_cast<char*>(shared_) + 4096) +
           sequence % 2 * static_cast<uint64_t>(job_.nranks);
  }
  Entry* entries() const { return entries(sequence_); }
  // Calls visit(first rank, ranks) for the ranks of `nodes` nodes from `node` on, which may wrap around.
  template <typename Visit>
  void for_ranks_of(int node, int nodes, const Visit& visit) const;
  uint32_t arrivals_of_all() const {
    return static_cast<uint32_t>(sequence_ + 1) * static_cast<uint32_t>(job_.ranks_on(job_.node));
  }
  void begin();
  void advance();
  bool ended(int round) const;
  bool lead(double deadline);
  void send_round(int round, int to_node, int nodes);
  void publish();

  Job job_;
  Shared* shared_ = nullptr;
  Channel* channel_ = nullptr;
  uint64_t sequence_ = 0;    // barriers passed
  bool begun_ = false;       // at the first rank of a node: all its ranks have arrived
  uint32_t node_waits_ = 0;  // calls of await_node()
  // At the first rank of a node, under the engine's lock: rounds sent in this barrier, -1 before all ranks of this node
  // have arrived; entries known in this barrier and the next, and the number of ranks whose entries each round has
  // brought.
  int round_ = -1;
  std::atomic<bool> complete_{false};
  std::vector<Entry> known_[2];
  std::vector<uint8_t> here_[2];
  uint32_t received_[2][max_rounds] = {};
};

}  // namespace hiroba
