// Puts between this rank and all others: the numbers of outgoing puts, the others' puts that have arrived, and fences.
// Puts to a rank are numbered from 1 on; requests, answers and waits are of the form "all up to n have arrived".
//
// Owner: Net. Any thread may call, except those that require the wire. fence() blocks.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "transport/order/arrived_puts.hpp"
#include "transport/wire/channel.hpp"

namespace hiroba {

// The number of puts of a rank to another one so far, modulo 2^32.
struct PutCount {
  int32_t rank = -1;
  uint32_t count = 0;
};

class PutLedger {
 public:
  void start(int nranks, Channel* channel);

  // ---- this rank's puts ----
  // Returns the number of the next put to that rank. Called before the put leaves, so that a fence cannot miss it.
  uint64_t number(int rank);
  // Returns the number of the last put to that rank; 0 if unfenced puts to other ranks exist.
  uint64_t number_if_only_to(int rank) const;
  bool fenced_but_for(std::span<const int> ranks) const;
  // Writes the counts of all unfenced puts; returns false if they went to more ranks than `counts` holds.
  bool count(std::span<PutCount> counts) const;
  uint64_t sent(int rank) const { return of(rank).sent; }
  // Blocks until all puts of this rank have arrived, also those that other threads are fencing just now. Returns true
  // if it has waited.
  bool fence();
  // Records that these puts have arrived, as known from a barrier.
  void acknowledge(PutCount count);

  // ---- others' puts ----
  uint64_t arrived_up_to(int source) const { return of(source).arrived.all_up_to(); }
  // Returns true if the puts that the source has counted are here: `count` is modulo 2^32, as in PutCount.
  bool have_arrived(int source, uint32_t count) const {
    return static_cast<int32_t>(static_cast<uint32_t>(arrived_up_to(source)) - count) >= 0;
  }
  // These require the wire.
  void arrived(int source, uint64_t number) { of(source).arrived.add(number); }
  void serve_flush(int source, uint64_t count);
  void serve_flushed(int source, uint64_t count);
  // Requires a poll before it. Answers the flushes whose puts have arrived; returns true if any.
  bool answer_flushes();

 private:
  struct Puts {
    std::atomic<uint64_t> acknowledged{0};  // all of our puts up to this have arrived there
    uint64_t sent = 0;                      // number of our puts (lock_)
    bool dirty = false;                     // in dirty_ (lock_)
    ArrivedPuts arrived;                    // its puts that have arrived here
  };
  static_assert(sizeof(Puts) == 56, "docs/scaling.md says what is kept per rank: change it, too");
  struct Flush {
    int source;
    uint64_t count;
  };
  Puts& of(int rank) { return puts_[rank]; }
  const Puts& of(int rank) const { return puts_[rank]; }
  size_t due(std::span<Flush> out) const;
  void forget_clean();
  bool answer(const Flush& flush);

  Channel* channel_ = nullptr;
  std::unique_ptr<Puts[]> puts_;  // by rank
  mutable SignalSafeLock lock_;
  std::vector<int> dirty_;      // ranks with unfenced puts (lock_); capacity for all is reserved
  std::vector<Flush> flushes_;  // not answered yet (wire state)
};

}  // namespace hiroba
