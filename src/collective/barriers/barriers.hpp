// Barriers of all ranks, and of some, over what the transport does natively; and how long they wait.
//
// Owner: Collective. Calls are made by one thread of each rank, in one order with equal names: they are counted, named
// on the board and compared. They block, but start_split().
#pragma once

#include <pthread.h>

#include <atomic>
#include <functional>
#include <span>
#include <vector>

#include "collective/world.hpp"

namespace hiroba {

class Barriers {
 public:
  void start(const World& world, bool measure);
  static uint64_t tag_of(const char* call);  // the same calls have the same tag
  // All give the same tag; without one it is that of the name.
  Status all(const char* call, uint64_t tag);
  Status all(const char* call);
  // A barrier that hands every rank's word to every rank.
  Status with_words(const char* call, uint64_t tag, uint64_t word, std::span<uint64_t> words);
  Status with_words(const char* call, uint64_t word, std::span<uint64_t> words);
  // A barrier in two halves, between which this rank makes no other call for all ranks.
  Status start_split(const char* call, uint64_t tag);
  bool between() const { return split_ != nullptr; }
  Status none_between(const char* call) const;  // an error if one is not ended
  Status end_split();                           // after a start
  // Waits only for `others`, each of which names this rank in turn. Every rank makes the call.
  Status some(const char* call, std::span<const int> others);

  struct Waits {
    double seconds = 0;
    std::vector<double> for_rank;  // by the rank that came last, where this rank sees when others came
  };
  const Waits& waits() const { return waits_; }  // option stats
  void tell_waits(std::function<void(double seconds)> told) { told_ = std::move(told); }

 private:
  Status come(const char* call);
  template <typename Wait>
  Status wait_for_others(const Wait& wait);
  template <typename Wait>
  Status enter(const char* call, const Wait& wait);
  void note_wait(double seconds);

  const World* world_ = nullptr;
  bool measure_ = false;
  std::atomic<pthread_t> thread_{};  // that is in a call
  const char* split_ = nullptr;      // the call that has started a barrier and not ended it
  Waits waits_;
  std::function<void(double)> told_;
  std::vector<uint64_t> words_;  // for barriers whose words are not used
};

}  // namespace hiroba
