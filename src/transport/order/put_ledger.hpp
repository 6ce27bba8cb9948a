// Puts between this rank and all others: numbers of those that leave, which of the others' have arrived, and fences.
// A put to a rank has a number, from 1 on; "all up to n have arrived" is what is asked, answered and waited for.
//
// Owner: Net. Threads: any, but for what says "with the wire". fence() blocks.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "transport/order/arrived_puts.hpp"
#include "transport/wire/channel.hpp"

namespace hiroba {

// How many puts a rank has made to another one in its life, modulo 2^32.
struct PutCount {
  int32_t rank = -1;
  uint32_t count = 0;
};

class PutLedger {
 public:
  void start(int nranks, Channel* channel);

  // ---- this rank's puts ----
  // Of the next put to that rank. Taken before it leaves, so that a fence cannot miss it.
  uint64_t number(int rank);
  // The number of the last put to that rank; 0 if others have got some, too, that nobody has fenced.
  uint64_t number_if_only_to(int rank) const;
  bool fenced_but_for(std::span<const int> ranks) const;
  // Of all that nobody has fenced; false if they went to more ranks than there is room for.
  bool count(std::span<PutCount> counts) const;
  uint64_t sent(int rank) const { return of(rank).sent; }
  // Waits until all that this rank has put, to whomever, has arrived; also what other threads are fencing just now.
  // Returns whether it has waited.
  bool fence();
  // It is known otherwise that they have arrived.
  void acknowledge(PutCount count);

  // ---- others' puts ----
  uint64_t arrived_up_to(int source) const { return of(source).arrived.all_up_to(); }
  // Whether as many as the source has counted are here: `count` is modulo 2^32, as in PutCount.
  bool have_arrived(int source, uint32_t count) const {
    return static_cast<int32_t>(static_cast<uint32_t>(arrived_up_to(source)) - count) >= 0;
  }
  // With the wire.
  void arrived(int source, uint64_t number) { of(source).arrived.add(number); }
  void serve_flush(int source, uint64_t count);
  void serve_flushed(int source, uint64_t count);
  // After a poll: answers what can be answered by now; true if it did.
  bool answer_flushes();

 private:
  struct Puts {
    std::atomic<uint64_t> acknowledged{0};  // all of ours up to this have arrived there
    uint64_t sent = 0;                      // by us (lock_)
    bool dirty = false;                     // in dirty_ (lock_)
    ArrivedPuts arrived;                    // from there
  };
  static_assert(sizeof(Puts) == 56, "docs/scaling.md says what is kept per rank: change it, too");
  struct Flush {
    int source;
    uint64_t count;
  };
  Puts& of(int rank) { return puts_[static_cast<size_t>(rank)]; }
  const Puts& of(int rank) const { return puts_[static_cast<size_t>(rank)]; }
  size_t due(std::span<Flush> out) const;
  void forget_clean();
  bool answer(const Flush& flush);

  Channel* channel_ = nullptr;
  std::unique_ptr<Puts[]> puts_;  // by rank
  mutable SignalSafeLock lock_;
  std::vector<int> dirty_;      // ranks with puts that nobody has fenced (lock_); room for all is reserved
  std::vector<Flush> flushes_;  // not answered yet (wire state)
};

}  // namespace hiroba
