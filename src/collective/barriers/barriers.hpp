// Barriers of all ranks, and of some, by the transport's native operations, and the time that they wait.
//
// Owner: Collective. One thread of each rank makes the calls, in one order with equal names. Each call is counted,
// named on the board and compared with the other ranks' calls. All calls but start_split() block.
#pragma once

#include <pthread.h>

#include <atomic>
#include <span>
#include <vector>

#include "collective/world.hpp"

namespace hiroba {

class Barriers {
 public:
  void start(const World& world, bool measure);
  static uint64_t tag_of(const char* call);  // equal calls have equal tags
  // All ranks give the same tag; the default is the tag of the name.
  Status all(const char* call, uint64_t tag);
  Status all(const char* call);
  // Gives every rank the words of all ranks.
  Status with_words(const char* call, uint64_t tag, uint64_t word, std::span<uint64_t> words);
  Status with_words(const char* call, uint64_t word, std::span<uint64_t> words);
  // A split barrier; this rank makes no other call for all ranks between the halves.
  Status start_split(const char* call, uint64_t tag);
  bool between() const { return split_ != nullptr; }
  Status none_between(const char* call) const;  // an error if a split barrier is under way
  Status end_split();                           // requires start_split()
  // Waits only for `others`, each of which names this rank in turn. Every rank makes this call.
  Status some(const char* call, std::span<const int> others);
  // Returns the number of barriers of all ranks that this rank has entered or started.
  const std::atomic<uint64_t>& entered() const { return entered_; }
  // Returns true if the calling thread waits in a barrier.
  bool waits_here() const { return waiting_.load(std::memory_order_relaxed) == pthread_self(); }
  // Shows the line of an interpreted program on the board once the calling thread has waited there for a second.
  void tell_long_wait();

  struct Waits {
    double seconds = 0;
    std::vector<double> for_rank;  // by the rank that came last, if this rank sees when others came
  };
  const Waits& waits() const { return waits_; }  // option stats
  // Counts a wait in another collective operation.
  void add_wait(double seconds) { waits_.seconds += seconds; }

 private:
  Status come(const char* call);
  // `others`: the ranks that this one waits for; null: all.
  template <typename Wait>
  Status wait_for_others(const char* call, const Wait& wait, const std::span<const int>* others = nullptr);
  template <typename Wait>
  Status enter(const char* call, const Wait& wait, const std::span<const int>* others = nullptr);
  void note_wait(const char* call, double begin, const std::span<const int>* others);

  const World* world_ = nullptr;
  bool measure_ = false;
  std::atomic<pthread_t> thread_{};   // the thread that is in a call
  std::atomic<pthread_t> waiting_{};  // the thread that waits for other ranks
  std::atomic<uint64_t> entered_{0};
  double waits_since_ = 0;       // the first look at the time in this wait; 0: none
  const char* split_ = nullptr;  // the call that started a barrier and has not ended it
  Waits waits_;
  std::vector<uint64_t> words_;  // for barriers whose words nobody reads
};

}  // namespace hiroba
