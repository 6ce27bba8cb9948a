// Atomic operations on words of other ranks, and waits for them to change. The home performs them, because network
// cards and processors are not atomic with each other.
//
// Owner: Net. Any thread may call, except those that require the wire. perform() and await_change() block.
#pragma once

#include <vector>

#include "transport/window.hpp"
#include "transport/wire/channel.hpp"

namespace hiroba {

class Words {
 public:
  enum class Operation : uint32_t { add64, swap64, add32, swap32 };

  void start(Channel* channel, const Window* window) { channel_ = channel, window_ = window; }
  // The forms with _here work on memory of this node, the others on remote memory.
  uint64_t perform_here(Operation operation, uint64_t at, uint64_t operand, uint64_t expected) const;
  uint64_t perform(int rank, Operation operation, uint64_t at, uint64_t operand, uint64_t expected);
  uint32_t await_change_here(uint64_t at, uint32_t old, double seconds);
  uint32_t await_change(int rank, uint64_t at, uint32_t old, double seconds);
  void wake_here(uint64_t at) const;
  void wake(int rank, uint64_t at);

  // These require the wire.
  void serve_atomic(int source, const Head& head);
  void serve_watch(int source, const Head& head);
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

  Channel* channel_ = nullptr;
  const Window* window_ = nullptr;
  std::vector<Watch> watches_;
};

}  // namespace hiroba
