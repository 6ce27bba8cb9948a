// Part of the contract of this floor (transport.hpp): barriers of all ranks, and of some.
//
// Owner: the transport. One thread of each rank makes these calls, and all ranks make the same ones. They block, but
// start_barrier().
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/status.hpp"

namespace hiroba {

class Transport;

class RankBarriers {
 public:
  explicit RankBarriers(const Transport& core) : core_(core) {}
  virtual ~RankBarriers() = default;

  // A barrier that gives every rank's word to every rank: words[r] is rank r's. All must give the same tag; otherwise
  // it returns a status that names two ranks and their calls on the board. Between its halves a rank may do anything
  // except begin another barrier; a rank that has ended it may wait for an answer of one that has not. Puts made in
  // between belong to the next fence or barrier.
  virtual void start_barrier(uint64_t tag, uint64_t word) = 0;
  virtual Status end_barrier(std::span<uint64_t> words) = 0;
  Status barrier(uint64_t tag, uint64_t word, std::span<uint64_t> words) {
    start_barrier(tag, word);
    return end_barrier(words);
  }

  // A barrier without words that waits for some ranks only: writes of `others` before it are visible to this rank after
  // it. Every rank makes the call, and two ranks name each other or neither does. A transport without a cheaper way
  // waits for all ranks.
  virtual Status group_barrier(uint64_t tag, std::span<const int> others);

 protected:
  // Returns a status with the missing ranks' calls, for a barrier that has waited too long.
  Status late(std::span<const int> missing) const;
  // Returns a status with the calls of two ranks whose tags differ. `learn` copies a remote rank's call to our board.
  Status unequal(int a, int b, const std::function<void(int)>& learn = {}) const;

 private:
  const Transport& core_;
};

}  // namespace hiroba
