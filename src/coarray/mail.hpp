// Messages between images: posts, and the counts of pairwise synchronisation.
//
// Messages are not ordered, so nothing here depends on their order: posts are matched by sender and tag, counts add up.
// Messages that arrive are stored in this process's own memory, without limit. Thread-safe. Handlers may run in any
// thread, and in the page-fault handler; so the lock is held only around code that touches private memory.
#pragma once

#include <atomic>
#include <deque>
#include <memory>

#include "coarray/checker.hpp"

namespace hiroba {

class Mail {
 public:
  void listen(Transport& transport);
  void start(const World& world);

  // ---- post and wait ----
  // The checker's data in posts and arrivals is passed on unchanged.
  void post(int rank, int64_t tag, const Checker::Stamp& stamp);
  // Takes the oldest post that matches and returns its sender.
  Status wait(int rank, int64_t tag, const Call& call, int& from, Checker::Stamp& stamp);

  // ---- barriers of two: both ranks call arrive(other) and await_pair(other) -----------------------------------------
  void arrive(int rank, const Checker::Stamp& stamp);
  Status await_pair(int rank, const Call& call, Checker::Stamp& stamp);

 private:
  struct Post {
    int rank;
    int64_t tag;
    Checker::Stamp stamp;
  };
  struct Pair {
    std::atomic<uint32_t> received{0};
    uint32_t sent = 0;     // pairs are synchronised by one thread at a time
    Checker::Stamp stamp;  // the last one received (lock_)
  };
  bool take_post(int rank, int64_t tag, int& from, Checker::Stamp& stamp);
  void keep_post(int source, const void* payload, size_t bytes);
  void keep_arrival(int source, const void* payload, size_t bytes);
  std::string queued() const;

  const World* world_ = nullptr;
  std::unique_ptr<Pair[]> pairs_;
  int on_post_ = 0, on_pair_sync_ = 0;  // handlers
  mutable SignalSafeLock lock_;         // guards the members below
  std::deque<Post> posts_;              // those that the program has not waited for yet
};

}  // namespace hiroba
