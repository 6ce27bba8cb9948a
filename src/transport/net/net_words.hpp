// Atomic operations on words of other ranks, and waits for them to change. The home performs them, because network
// cards and processors are not atomic with each other.
//
// Owner: Net. Any thread may call, except those that require the wire. perform() and await_change() block.
#pragma once

#include <vector>

#include "base/job.hpp"
#include "transport/remote_words.hpp"
#include "transport/window.hpp"
#include "transport/wire/channel.hpp"

namespace hiroba {

class NetWords final : public RemoteWords {
 public:
  void start(const Job& job, Channel* channel, const Window* window) {
    job_ = &job, channel_ = channel, window_ = window;
  }
  uint64_t perform(int rank, Operation operation, uint64_t at, uint64_t operand, uint64_t expected) override;
  uint32_t await_change(int rank, uint64_t at, uint32_t old, double seconds) override;
  void wake(int rank, uint64_t at) override;

  // These require the wire.
  void serve_atomic(int source, const Head& head);
  void serve_watch(int source, const Head& head);
  void serve_wake(const Head& head) const { futex_wake_all(futex_at(head.offset)); }
  // Requires a poll before it. Answers watches whose word has changed or whose time is up; true if any.
  bool answer_watches();

 private:
  struct Watch {
    int source;
    Head head;
    double deadline;
  };
  std::atomic<uint32_t>& futex_at(uint64_t at) const {
    return *reinterpret_cast<std::atomic<uint32_t>*>(window_->at(at));
  }

  bool here(int rank) const { return job_->is_here(rank); }

  const Job* job_ = nullptr;
  Channel* channel_ = nullptr;
  const Window* window_ = nullptr;
  std::vector<Watch> watches_;
};

}  // namespace hiroba
