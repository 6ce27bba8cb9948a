// A bounded queue of messages with many producers and one consumer at a time, in memory shared by processes.
// Slot i holds message number n = i (mod slots) when its sequence is n + 1, and is free for number n when it is n
// (D. Vyukov's bounded queue). Zero-filled memory is an empty ring, because sequences are stored minus the slot index.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "transport/transport.hpp"

namespace hiroba {

struct Ring {
  static constexpr uint64_t slots = 128;
  struct Slot {
    std::atomic<uint64_t> turn;  // sequence minus slot index
    int32_t source, handler;
    uint64_t bytes;
    char payload[Transport::max_message];
  };
  alignas(64) std::atomic<uint64_t> head;      // next message number to write
  alignas(64) std::atomic<uint64_t> tail;      // next message number to read
  alignas(64) std::atomic<uint32_t> consumer;  // 1 while a thread reads
  std::atomic<uint32_t> bell;                  // futex: counts arrivals
  std::atomic<uint32_t> sleepers;
  std::atomic<uint32_t> in_barrier;  // 1 while the rank sleeps in a barrier
  alignas(64) Slot slot[slots];

  bool push(int source, int handler, const void* payload, size_t bytes) {
    uint64_t number = head.load(std::memory_order_relaxed);
    for (;;) {
      Slot& s = slot[number % slots];
      const int64_t lag = static_cast<int64_t>(s.turn.load(std::memory_order_acquire) + number % slots - number);
      if (lag < 0) return false;  // full
      if (lag > 0) {
        number = head.load(std::memory_order_relaxed);
      } else if (head.compare_exchange_weak(number, number + 1, std::memory_order_relaxed)) {
        s.source = source, s.handler = handler, s.bytes = bytes;
        std::memcpy(s.payload, payload, bytes);
        s.turn.store(number + 1 - number % slots, std::memory_order_release);
        return true;
      }
    }
  }

  // Takes one message out and passes it to take(slot), which must not call pop(); returns false if there is none.
  // Requires that the caller is the consumer.
  template <typename Take>
  bool pop(const Take& take) {
    const uint64_t number = tail.load(std::memory_order_relaxed);
    Slot& s = slot[number % slots];
    if (s.turn.load(std::memory_order_acquire) + number % slots != number + 1) return false;
    take(s);
    s.turn.store(number + slots - number % slots, std::memory_order_release);
    tail.store(number + 1, std::memory_order_relaxed);
    return true;
  }
};

}  // namespace hiroba
