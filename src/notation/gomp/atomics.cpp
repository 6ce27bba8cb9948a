// Atomic operations of programs compiled with -fno-inline-atomics: performed at the home of the object. Those with an
// order are releases and acquires of shared memory, too.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/log.hpp"
#include "openmp/openmp.hpp"
#include "process/process.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace hiroba::openmp {

namespace {

bool releases(int order) { return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST; }
bool acquires(int order) { return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE; }

// Orders of the operation on this object: nothing is to do if all threads reach it directly.
class Ordered {
 public:
  Ordered(const volatile void* object, int order) : object_(const_cast<const void*>(object)), order_(order) {
    if (order != __ATOMIC_RELAXED && releases(order)) words::release(object_);
  }
  Ordered(const Ordered&) = delete;
  ~Ordered() {
    if (acquires(order_)) words::acquire(object_);
  }

 private:
  const void* object_;
  int order_;
};

template <typename T>
T load(const volatile void* object, int order) {
  const Ordered ordered(object, order);
  return static_cast<T>(words::load(const_cast<const void*>(object), sizeof(T)));
}

// Performs `change` on the object; returns the old value.
template <typename T, typename Change>
T update(volatile void* object, int order, const Change& change) {
  const Ordered ordered(object, order);
  void* const at = const_cast<void*>(object);
  for (uint64_t seen = words::load(at, sizeof(T));;) {
    const T next = change(static_cast<T>(seen));
    const uint64_t old = words::swap(at, sizeof(T), seen, next);
    if (old == seen) return static_cast<T>(old);
    seen = old;
  }
}

template <typename T>
bool compare_exchange(volatile void* object, void* expected, T desired, int order) {
  const Ordered ordered(object, order);
  T wanted;
  std::memcpy(&wanted, expected, sizeof wanted);
  const T old = static_cast<T>(words::swap(const_cast<void*>(object), sizeof(T), wanted, desired));
  if (old == wanted) return true;
  std::memcpy(expected, &old, sizeof old);
  return false;
}

}  // namespace

}  // namespace hiroba::openmp

using namespace hiroba;
using namespace hiroba::openmp;

#define FETCH(n, type, name, next)                                                                       \
  EXPORT type __atomic_fetch_##name##_##n(volatile void* object, type value, int order) {                \
    return update<type>(object, order, [value](type old) { return static_cast<type>(next); });           \
  }                                                                                                      \
  EXPORT type __atomic_##name##_fetch_##n(volatile void* object, type value, int order) {                \
    const type old = update<type>(object, order, [value](type old) { return static_cast<type>(next); }); \
    return static_cast<type>(next);                                                                      \
  }

#define ATOMICS(n, type)                                                                                        \
  EXPORT type __atomic_load_##n(const volatile void* object, int order) { return load<type>(object, order); }   \
  EXPORT void __atomic_store_##n(volatile void* object, type value, int order) {                                \
    update<type>(object, order, [value](type) { return value; });                                               \
  }                                                                                                             \
  EXPORT type __atomic_exchange_##n(volatile void* object, type value, int order) {                             \
    return update<type>(object, order, [value](type) { return value; });                                        \
  }                                                                                                             \
  EXPORT bool __atomic_compare_exchange_##n(volatile void* object, void* expected, type desired, bool /*weak*/, \
                                            int order, int /*failure*/) {                                       \
    return compare_exchange<type>(object, expected, desired, order);                                            \
  }                                                                                                             \
  FETCH(n, type, add, old + value)                                                                              \
  FETCH(n, type, sub, old - value)                                                                              \
  FETCH(n, type, and, old& value)                                                                               \
  FETCH(n, type, or, old | value)                                                                               \
  FETCH(n, type, xor, old ^ value)                                                                              \
  FETCH(n, type, nand, ~(old & value))

ATOMICS(1, uint8_t)
ATOMICS(2, uint16_t)
ATOMICS(4, uint32_t)
ATOMICS(8, uint64_t)
