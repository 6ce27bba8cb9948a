// The state that all transactions of a node share: a clock, the versions of stripes of memory, and a slot for each
// thread. It lies in the control segment of the node's first rank, which all ranks of the node map, or in private
// memory of a process without a job. README.md has the protocol.
//
// Owner: nobody; all zero is its first state. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/wait.hpp"

namespace hiroba {

// The version of a stripe: the clock's value when it was last written. While a thread commits to it, a value above all
// versions, which names the thread's slot and the place of the lock in that thread's list.
struct StripeWord {
  std::atomic<uint64_t> word;

  static constexpr uint64_t lock_bit = uint64_t{1} << 63;
  static constexpr uint32_t elsewhere = 0xffff;  // the slot of a thread of another node, which has locked by a message
  static bool is_locked(uint64_t value) { return (value & lock_bit) != 0; }
  static uint64_t locked(uint32_t slot, size_t index) { return lock_bit | index << 16 | slot; }
  static uint32_t slot_of(uint64_t value) { return value & 0xffff; }
  static size_t index_of(uint64_t value) { return (value & ~lock_bit) >> 16; }
};

// A thread that runs transactions.
struct alignas(128) TransactionSlot {
  std::atomic<uint64_t> state;   // 0: in no transaction; else state_of() its snapshot of this node's clock
  std::atomic<uint32_t> owner;   // 1 + the rank; 0: free
  std::atomic<int32_t> thread;   // its system number
  std::atomic<int32_t> process;  // and that of its process
  std::atomic<uint64_t> begun;   // the address there of the text that says where the transaction begins

  static uint64_t state_of(uint64_t snapshot) { return snapshot << 1 | 1; }
  static uint64_t snapshot_of(uint64_t state) { return state >> 1; }
};

struct TransactionDomain {
  static constexpr uint32_t most_threads = 4096;
  static constexpr uint64_t stripes = uint64_t{1} << 20;

  alignas(128) std::atomic<uint64_t> clock;    // counts commits
  alignas(128) std::atomic<uint64_t> serial;   // not 0 while a transaction runs alone
  std::atomic<uint32_t> serial_ended;          // counts these, for threads that sleep
  alignas(128) std::atomic<uint32_t> changes;  // counts commits while threads sleep; a futex
  std::atomic<uint32_t> sleepers;
  alignas(128) std::atomic<uint32_t> used_slots;  // slots beyond have never been used
  alignas(128) uint32_t token[2];                 // a TicketLock: on node 0, the right to run alone
  TransactionSlot slots[most_threads];
  alignas(128) StripeWord words[stripes];

  // Returns the number of the word that a stripe has.
  static uint32_t index_of(uint64_t address, int stripe_shift) {
    return static_cast<uint32_t>(address >> stripe_shift & (stripes - 1));
  }
  // A commit has changed words. A thread that falls asleep at the same time looks again soon.
  void wake_sleepers() {
    if (sleepers.load() == 0) return;
    ++changes;
    futex_wake_all(changes);
  }
};

}  // namespace hiroba
