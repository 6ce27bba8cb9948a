#include "openmp/program/words.hpp"

#include "base/record/record.hpp"
#include "openmp/program/runtime.hpp"
#include "process/process.hpp"

namespace hiroba::openmp::words {

namespace {

Memory& memory() { return process_memory("an atomic operation of OpenMP"); }

// Finds the home of shared memory; returns false if all ranks reach it alike, or it is the rank's own.
bool locate(const void* object, PastCache::Place& place) {
  if (!between_nodes && !checked) return false;
  const InRuntime runtime;
  return process_started() && memory().past_cache().locate(object, place).ok();
}

uint64_t swap_word(void* word, unsigned bytes, uint64_t expected, uint64_t desired) {
  const InRuntime runtime;
  uint64_t old = 0;
  require(memory().atomics().swap(word, bytes, expected, desired, old, Atomics::Order::noted));
  return old;
}

uint64_t add_to_word(void* word, unsigned bytes, uint64_t value) {
  const InRuntime runtime;
  uint64_t old = 0;
  require(memory().atomics().add(word, bytes, value, old, Atomics::Order::noted));
  return old;
}

// An object of 1 or 2 bytes, in the word of 4 that has it.
struct Within {
  void* word;
  unsigned shift;
  uint64_t mask;
  Within(const void* object, unsigned bytes)
      : word(reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(object) & ~uintptr_t{3})),
        shift(8 * static_cast<unsigned>(reinterpret_cast<uintptr_t>(object) & 3)),
        mask(bytes == 1 ? 0xff : 0xffff) {}
};

}  // namespace

void note_atomic(const void* object, unsigned bytes, bool writes) {
  if (!process_started()) return;
  const InRuntime runtime;
  memory().atomics().note(object, bytes, writes);
}

bool is_past_view(const void* object) {
  PastCache::Place place = {};
  return locate(object, place) && (checked || !place.here);
}

uint64_t load_far(const void* object, unsigned bytes) {
  if (bytes >= 4) return add_to_word(const_cast<void*>(object), bytes, 0);
  const Within within(object, bytes);
  return add_to_word(within.word, 4, 0) >> within.shift & within.mask;
}

uint64_t add_far(void* object, unsigned bytes, uint64_t value) { return add_to_word(object, bytes, value); }

uint64_t swap_far(void* object, unsigned bytes, uint64_t expected, uint64_t desired) {
  if (bytes >= 4) return swap_word(object, bytes, expected, desired);
  const Within within(object, bytes);
  for (uint64_t word = add_to_word(within.word, 4, 0);;) {
    const uint64_t old = word >> within.shift & within.mask;
    if (old != (expected & within.mask)) return old;
    const uint64_t next = (word & ~(within.mask << within.shift)) | (desired & within.mask) << within.shift;
    const uint64_t seen = swap_word(within.word, 4, word, next);
    if (seen == word) return old;
    word = seen;
  }
}

namespace {

template <typename T>
uint64_t swap_at_home(T* word, uint64_t expected, uint64_t desired) {
  if (is_far(word)) return swap_far(word, sizeof *word, expected, desired);
  T old = static_cast<T>(expected);
  __atomic_compare_exchange_n(word, &old, static_cast<T>(desired), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return old;
}

}  // namespace

uint64_t swap(int64_t* word, uint64_t expected, uint64_t desired) {
  return swap_at_home(reinterpret_cast<uint64_t*>(word), expected, desired);
}
uint64_t add(int64_t* word, uint64_t value) {
  if (is_far(word)) return add_to_word(word, sizeof *word, value);
  return __atomic_fetch_add(reinterpret_cast<uint64_t*>(word), value, __ATOMIC_SEQ_CST);
}

namespace {

void release_at(const void* word) {
  PastCache::Place place = {};
  if (locate(word, place)) memory().consistency().release_to(place.rank);
}

void acquire_at(const void* word) {
  PastCache::Place place = {};
  if (locate(word, place)) memory().consistency().acquire_from(place.rank);
}

void note_turn(Consistency::Turn turn, const uint32_t* lock, uint64_t value) {
  const auto name = static_cast<int>(reinterpret_cast<uintptr_t>(lock) / sizeof *lock & 0x7fffffff);
  memory().consistency().note_turn(turn, name, static_cast<uint32_t>(value / 2));
}

}  // namespace

void hand_over(const void* word) {
  const InRuntime runtime;
  release_at(word);
  if (checked) memory().consistency().note_word(Consistency::Word::changes, word);
}

void take_over(const void* word) {
  const InRuntime runtime;
  acquire_at(word);
  if (checked) memory().consistency().note_word(Consistency::Word::has_looked, word);
}

namespace {

// `free`: the word before.
bool take(uint32_t* lock, uint64_t& free) {
  free = checked ? load(lock) & ~uint64_t{1} : 0;
  return swap_at_home(lock, free, free + 1) == free;
}

void took(uint32_t* lock, uint64_t free) {
  acquire_at(lock);
  if (checked) note_turn(Consistency::Turn::begins, lock, free);
  ++locks_held;
}

}  // namespace

bool try_lock(uint32_t* lock) {
  const InRuntime runtime;
  uint64_t free = 0;
  if (!take(lock, free)) return false;
  took(lock, free);
  return true;
}

// Within a node a waiting thread reads the word, and leaves it in the cache of the one that has the lock.
void wait_and_lock(uint32_t* lock) {
  const auto may_be_free = [lock] {
    return between_nodes || checked || (__atomic_load_n(lock, __ATOMIC_RELAXED) & 1) == 0;
  };
  const InRuntime runtime;
  const double begin = recording() ? seconds_now() : 0;
  uint64_t free = 0;
  await("a lock of OpenMP", [&] { return may_be_free() && take(lock, free); });
  if (recording()) note_lock(-1, "a lock of OpenMP", begin, seconds_now());
  took(lock, free);
}

void publish_and_unlock(uint32_t* lock) {
  const InRuntime runtime;
  --locks_held;
  const uint64_t held = checked ? load(lock) : 1, free = checked ? static_cast<uint32_t>(held + 1) : 0;
  release_at(lock);
  if (checked) note_turn(Consistency::Turn::ends, lock, held);
  if (!is_far(lock)) return __atomic_store_n(lock, static_cast<uint32_t>(free), __ATOMIC_RELEASE);
  swap_far(lock, sizeof *lock, held, free);
}

}  // namespace hiroba::openmp::words
