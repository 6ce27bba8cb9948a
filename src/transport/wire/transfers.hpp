// Bulk transfers under way: the meaning of a ticket of the wire, and the action at its end.
//
// Owner: Channel. Wire state (the engine's lock), except the counts, which waiting threads read.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "transport/transport.hpp"

namespace hiroba {

struct WireTransfer {
  // Called with the wire at the end; may start other transfers. May be null.
  using Ended = void (*)(void* context, WireTransfer& transfer);
  Ended ended = nullptr;
  void* context = nullptr;
  Completion* completion = nullptr;  // decremented after that
  int source = 0;                    // of a put, with its number and the offset of its data
  uint64_t number = 0, offset = 0;
  std::vector<uint64_t> buffer;  // packed data in flight
};

class Transfers {
 public:
  static constexpr uint32_t most = 4096;  // under way at once; far fewer than tags

  // Returns the ticket. A buffer keeps its memory from one transfer with the ticket to the next.
  uint64_t add(WireTransfer::Ended ended, void* context, Completion* completion = nullptr) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const uint32_t ticket = free_.back();
    free_.pop_back();
    slots_[ticket].ended = ended, slots_[ticket].context = context, slots_[ticket].completion = completion;
    change_busy(1);
    return ticket;
  }
  uint64_t add(Completion& completion) { return add(nullptr, nullptr, &completion); }
  WireTransfer& of(uint64_t ticket) { return slots_[ticket]; }
  void end(uint64_t ticket) {
    WireTransfer transfer = std::move(slots_[ticket]);  // slots may move if `ended` starts another transfer
    if (transfer.ended != nullptr) transfer.ended(transfer.context, transfer);
    if (transfer.completion != nullptr) transfer.completion->left.fetch_sub(1, std::memory_order_release);
    slots_[ticket].buffer = std::move(transfer.buffer);
    free_.push_back(static_cast<uint32_t>(ticket));
    change_busy(-1);
  }

  // Counts data that another library moves, to or from this rank's memory, as a transfer, too.
  void change_busy(int32_t by) { count_.fetch_add(static_cast<uint32_t>(by), std::memory_order_relaxed); }
  // defer(): one transfer under way can arrive only after the next barrier. release_deferred(): all can arrive now.
  void defer() { deferred_.fetch_add(1, std::memory_order_relaxed); }
  void release_deferred() { deferred_.store(0, std::memory_order_relaxed); }
  bool full() const { return count_.load(std::memory_order_relaxed) >= most; }
  // Returns true if a transfer under way can arrive now.
  bool moving() const { return count_.load(std::memory_order_relaxed) > deferred_.load(std::memory_order_relaxed); }

 private:
  std::vector<WireTransfer> slots_;  // by ticket
  std::vector<uint32_t> free_;
  std::atomic<uint32_t> count_{0}, deferred_{0};
};

}  // namespace hiroba
