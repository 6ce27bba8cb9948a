// Exchanges (barriers that tell everybody everybody's word) over nodes: in a node through shared memory, between nodes
// through frames among the first ranks of the nodes, in ceil(log2(nodes)) rounds (Bruck's all-gather: in round k a node
// sends all that it knows to the node 2^k before it and learns as much from the one 2^k after it). Whoever handles the
// frame that ends a round sends the next one, so rounds go on while the ranks compute between arrive() and await().
//
// Owner: the network transport. arrive() and await() are called by one thread of each rank, in turn; receive() under
// the engine's lock. A node can be one exchange ahead of another at most, so two generations of everything are enough.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <span>
#include <vector>

#include "base/job.hpp"
#include "transport/net/engine.hpp"
#include "transport/net/frames.hpp"

namespace hiroba {

// How a meeting sends its frames, and what it tells its owner.
class FrameSender {
 public:
  virtual void send_frame(int rank, const Head& head, const void* payload, size_t bytes) = 0;
  // At the first rank of a node, with the wire: of the exchange under way.
  virtual void all_have_come() = 0;

 protected:
  ~FrameSender() = default;
};

// What a rank has changed of others' memory since the exchange before: of whom, and between which offsets.
class Change {
 public:
  static constexpr int32_t nobody = -1, many = -2;
  int32_t rank = nobody;

  void add(int of, uint64_t offset, uint64_t bytes) {
    if (bytes == 0) return;
    const uint32_t from = page(offset), to = page(offset + bytes - 1);
    if (rank == nobody) rank = of, first_ = from, last_ = to;
    else if (rank != of) rank = many;
    first_ = std::min(first_, from), last_ = std::max(last_, to);
  }
  bool touches(int of, uint64_t offset, uint64_t bytes) const {
    if (rank != of) return rank == many;
    return page(offset) <= last_ && page(offset + bytes - 1) >= first_;
  }

 private:
  static uint32_t page(uint64_t offset) { return static_cast<uint32_t>(std::min<uint64_t>(offset / 4096, UINT32_MAX)); }
  uint32_t first_ = 0, last_ = 0;
};

class Meeting {
 public:
  struct Outcome {
    bool complete = false;  // else the time was up
    int a = -1, b = -1;     // two ranks whose tags differ, if b >= 0
  };

  void start(const Job& job, Board& board, Engine* engine, FrameSender* sender);
  // How many puts this rank has made to another one in its life, modulo 2^32, for those that nobody has fenced.
  struct PutCount {
    int32_t rank = -1;
    uint32_t count = 0;
  };
  static constexpr size_t most_put_counts = 2;
  using PutCounts = std::array<PutCount, most_put_counts>;
  // This rank has come; returns at once. `told`: alone on its node, with nothing to say but the tag, and the first rank
  // of the node that its first round goes to will hear() of it by other means.
  void arrive(uint64_t tag, uint64_t word, const PutCounts& puts, const Change& changed, bool told);
  // Whom the first round of a rank that is alone on its node goes to.
  int first_told(int rank) const { return job_.first_rank_of((job_.node_of(rank) - 1 + job_.nnodes) % job_.nnodes); }
  // With the wire: that rank has come to the exchange of that number, with nothing to say but the tag.
  void hear(int rank, uint64_t sequence, uint64_t tag);
  uint64_t sequence() const { return sequence_; }
  // Waits until all have. `timeout` in seconds, 0: for ever. words[r] becomes rank r's word.
  Outcome await(std::span<uint64_t> words, double timeout);
  // Of the last exchange: calls visit(source, put count) for each that a rank gave.
  template <typename Visit>
  void for_each_put(const Visit& visit) const {
    const Entry* const last = entries(sequence_ - 1);
    for (int r = 0; r < job_.nranks; ++r)
      for (const PutCount& put : last[r].puts)
        if (put.rank >= 0) visit(r, put);
  }
  // When all have come: calls visit(changed) for each rank that has changed anybody's memory.
  template <typename Visit>
  void for_each_change(const Visit& visit) const {
    for (const Entry& entry : known_[half()])
      if (entry.changed.rank != Change::nobody) visit(entry.changed);
  }
  // Waits until all ranks of this node have called it as often as this one.
  void settle();
  void receive(const Head& head, const char* payload);
  // At the first rank of a node: whether the rank has been heard of in the exchange under way.
  bool heard_of(int rank) const { return here_[half()][static_cast<size_t>(rank)] != 0; }

 private:
  struct Entry {
    uint64_t tag, word;
    PutCounts puts;
    Change changed;
  };
  static_assert(sizeof(Entry) == 48, "docs/scaling.md says what a barrier sends and keeps per rank: change it, too");
  // In the board, one per node; two generations of entries for all ranks follow at 4096.
  struct Shared {
    alignas(64) std::atomic<uint32_t> arrivals;  // of this node's ranks in all exchanges together (futex)
    std::atomic<uint32_t> leader_sleeps;
    alignas(64) std::atomic<uint32_t> generation;  // exchanges completed (futex)
    std::atomic<uint32_t> sleepers;
    std::atomic<int32_t> a, b;
    std::atomic<uint32_t> settled;  // calls of settle() (futex)
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
  bool leads() const { return job_.rank == job_.first_rank_of(job_.node); }
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
  Engine* engine_ = nullptr;
  FrameSender* sender_ = nullptr;
  uint64_t sequence_ = 0;  // exchanges made
  bool begun_ = false;     // at the first rank of a node: this node is complete
  uint32_t settles_ = 0;   // calls of settle()
  // At the first rank of a node, under the engine's lock: rounds sent of this exchange, -1 before this node is
  // complete; what is known in this exchange and the next, and how many ranks each round has told.
  int round_ = -1;
  std::atomic<bool> complete_{false};
  bool told_first_ = false;  // the first round needs no frame
  uint64_t closed_ = 0;      // exchanges that have been published
  std::vector<Entry> known_[2];
  std::vector<uint8_t> here_[2];
  uint32_t told_[2][max_rounds] = {};
};

}  // namespace hiroba
