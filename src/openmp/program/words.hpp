// Words in shared memory that threads of all ranks change: performed at their home. On one node, and at home, each is
// an instruction of the processor. They order nothing but each other; release() and acquire() hand over the writes
// before a change of a word to the thread that has seen it.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <type_traits>

#include "base/wait.hpp"
#include "openmp/program/long_wait.hpp"

namespace hiroba::openmp::words {

// False if all ranks reach all shared memory by instructions of the processor. Set once at the start.
inline bool between_nodes = false;
// Option check. Set once at the start.
inline bool checked = false;
// The program has code of its own for `flush`. Set once at the start.
inline bool program_flushes = false;

// Both return the old value.
uint64_t add(int64_t* word, uint64_t value);
uint64_t swap(int64_t* word, uint64_t expected, uint64_t desired);

inline bool are_instructions() { return !between_nodes && !checked; }
void hand_over(const void* word);
void take_over(const void* word);
// Before the change of a word.
inline void release(const void* word) {
  if (!are_instructions()) hand_over(word);
}
// After the look at it.
inline void acquire(const void* word) {
  if (!are_instructions()) take_over(word);
}

// Returns when done() has returned true. `what` names the wait.
template <typename Done>
void await(const char* what, const Done& done) {
  LongWait wait(what);
  for (Backoff backoff(200); !done();)
    if (!backoff.step()) usleep(20), wait.go_on();
}

// A lock: a word of 4 bytes, 0 while it is free. Taken in no order. With option check the word counts the turns, and is
// even while the lock is free, so that races are found by the order of turns.
inline thread_local int locks_held __attribute__((tls_model("initial-exec"))) = 0;
bool try_lock(uint32_t* lock);
void wait_and_lock(uint32_t* lock);
void publish_and_unlock(uint32_t* lock);

inline void lock(uint32_t* lock) {
  uint32_t free = 0;
  if (!are_instructions() || !__atomic_compare_exchange_n(lock, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return wait_and_lock(lock);
  ++locks_held;
}
inline void unlock(uint32_t* lock) {
  if (!are_instructions()) return publish_and_unlock(lock);
  --locks_held;
  __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

// Returns true if accesses to the object, which may be the rank's own, must go to another node; with option check also
// if they go to shared memory here, where the program's own mapping shows plain accesses.
bool is_past_view(const void* object);
inline bool is_far(const void* object) { return !are_instructions() && is_past_view(object); }
// Option check: the program accesses the object by an atomic operation.
void note_atomic(const void* object, unsigned bytes, bool writes);
// For objects of 1, 2, 4, 8 bytes that are far. All return the old value; after swap_far() the object has the new one
// if that is `expected`.
uint64_t load_far(const void* object, unsigned bytes);
uint64_t add_far(void* object, unsigned bytes, uint64_t value);  // 4 or 8 bytes
uint64_t swap_far(void* object, unsigned bytes, uint64_t expected, uint64_t desired);

template <typename T>
uint64_t load(const T* word) {
  if (is_far(word)) return load_far(word, sizeof *word);
  return static_cast<std::make_unsigned_t<T>>(__atomic_load_n(word, __ATOMIC_SEQ_CST));
}

}  // namespace hiroba::openmp::words
