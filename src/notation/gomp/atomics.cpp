// Atomic operations of programs compiled with -fno-inline-atomics: performed at the home of the object. Those with an
// order are releases and acquires of shared memory, too.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/log.hpp"
#include "base/wait.hpp"
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
  Ordered(const volatile void* object, unsigned bytes, bool writes, int order)
      : object_(const_cast<const void*>(object)), order_(order) {
    instance<Singles>().pass();
    if (words::checked) words::note_atomic(object_, bytes, writes);
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

struct Looks {
  const volatile void* object;
  int count;
};
thread_local Looks looks __attribute__((tls_model("initial-exec"))) = {};

[[gnu::noinline]] void give_up_core() {
  looks.count = 0;
  Backoff::yield();
}

// Called at each look at an object. A thread that waits for another one looks at the same object again and again: now
// and then it lets others have the core, which the one that it waits for may need.
inline void look(const volatile void* object) {
  constexpr int most = 1000;  // a look takes nanoseconds, to give up the core some hundred
  Looks& now = looks;
  if (object != now.object) now = {object, 0};
  else if (++now.count == most) give_up_core();
}

// Returns true if all threads reach the object by instructions, and nothing is to be done before.
inline bool is_direct() { return words::are_instructions() && member.single == 0; }

// Each operation has a function for objects that all threads reach by instructions, which keeps no registers, and one
// of the same name with `_ordered` for the others.
template <typename T>
[[gnu::noinline]] T load_ordered(const volatile void* object, int order) {
  const Ordered ordered(object, sizeof(T), false, order);
  void* const at = const_cast<void*>(object);
  if (!words::is_far(at)) return __atomic_load_n(static_cast<T*>(at), __ATOMIC_SEQ_CST);
  return static_cast<T>(words::load_far(at, sizeof(T)));
}

template <typename T>
T load(const volatile void* object, int order) {
  look(object);
  if (!is_direct()) return load_ordered<T>(object, order);
  return __atomic_load_n(static_cast<const volatile T*>(object), __ATOMIC_SEQ_CST);
}

template <typename T, typename Here, typename Far>
[[gnu::noinline]] T update_ordered(volatile void* object, int order, const Here& here, const Far& far) {
  const Ordered ordered(object, sizeof(T), true, order);
  void* const at = const_cast<void*>(object);
  return words::is_far(at) ? far(at) : here(static_cast<T*>(at));
}

// Performs the operation: `here` by an instruction, or `far` at the home of the object. Both return the old value.
template <typename T, typename Here, typename Far>
T update(volatile void* object, int order, const Here& here, const Far& far) {
  if (!is_direct()) return update_ordered<T>(object, order, here, far);
  return here(static_cast<T*>(const_cast<void*>(object)));
}

// Changes the far object to `change` of its value.
template <typename T, typename Change>
T change_far(void* object, const Change& change) {
  for (uint64_t seen = words::load_far(object, sizeof(T));;) {
    const T next = change(static_cast<T>(seen));
    const uint64_t old = words::swap_far(object, sizeof(T), seen, next);
    if (old == seen) return static_cast<T>(old);
    seen = old;
  }
}

// Every home can add: this is one message, and succeeds, however many others change the object.
template <typename T>
T add_far(void* object, T value) {
  if constexpr (sizeof(T) >= 4) return static_cast<T>(words::add_far(object, sizeof(T), value));
  else return change_far<T>(object, [value](T old) { return static_cast<T>(old + value); });
}

template <typename T>
T exchange(volatile void* object, T value, int order) {
  return update<T>(
      object, order, [value](T* at) { return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST); },
      [value](void* at) { return change_far<T>(at, [value](T) { return value; }); });
}

template <typename T>
[[gnu::noinline]] bool has_failed(volatile void* object, void* expected, T old) {
  look(object);
  std::memcpy(expected, &old, sizeof old);
  return false;
}

template <typename T>
[[gnu::noinline]] bool compare_exchange_ordered(volatile void* object, void* expected, T desired, int order) {
  const Ordered ordered(object, sizeof(T), true, order);
  void* const at = const_cast<void*>(object);
  T wanted;
  std::memcpy(&wanted, expected, sizeof wanted);
  T old = wanted;
  if (words::is_far(at)) old = static_cast<T>(words::swap_far(at, sizeof(T), wanted, desired));
  else __atomic_compare_exchange_n(static_cast<T*>(at), &old, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return old == wanted || has_failed(object, expected, old);
}

template <typename T>
bool compare_exchange(volatile void* object, void* expected, T desired, int order) {
  if (!is_direct()) return compare_exchange_ordered<T>(object, expected, desired, order);
  T old;
  std::memcpy(&old, expected, sizeof old);
  return __atomic_compare_exchange_n(static_cast<volatile T*>(object), &old, desired, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST) ||
         has_failed(object, expected, old);
}

}  // namespace

}  // namespace hiroba::openmp

using namespace hiroba;
using namespace hiroba::openmp;

// The functions have names of their own here: those that GCC calls are its builtins, and a file that defines them gets
// calls of itself in the place of instructions.
#define ATOMIC(type, name, parameters)                                    \
  EXPORT type hiroba_atomic_##name parameters __asm__("__atomic_" #name); \
  EXPORT type hiroba_atomic_##name parameters

// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be in parentheses.
#define FETCH(n, type, name, next, far)                                                                  \
  ATOMIC(type, fetch_##name##_##n, (volatile void* object, type value, int order)) {                     \
    return update<type>(                                                                                 \
        object, order, [value](type* at) { return __atomic_fetch_##name(at, value, __ATOMIC_SEQ_CST); }, \
        [value](void* at) { return far; });                                                              \
  }                                                                                                      \
  ATOMIC(type, name##_fetch_##n, (volatile void* object, type value, int order)) {                       \
    const type old = hiroba_atomic_fetch_##name##_##n(object, value, order);                             \
    return static_cast<type>(next);                                                                      \
  }
#define CHANGE(n, type, name, next) \
  FETCH(n, type, name, next, change_far<type>(at, [value](type old) { return static_cast<type>(next); }))
// NOLINTEND(bugprone-macro-parentheses)

#define ATOMICS(n, type)                                                                                            \
  ATOMIC(type, load_##n, (const volatile void* object, int order)) { return load<type>(object, order); }            \
  ATOMIC(void, store_##n, (volatile void* object, type value, int order)) { exchange<type>(object, value, order); } \
  ATOMIC(type, exchange_##n, (volatile void* object, type value, int order)) {                                      \
    return exchange<type>(object, value, order);                                                                    \
  }                                                                                                                 \
  ATOMIC(bool, compare_exchange_##n,                                                                                \
         (volatile void* object, void* expected, type desired, bool /*weak*/, int order, int /*failure*/)) {        \
    return compare_exchange<type>(object, expected, desired, order);                                                \
  }                                                                                                                 \
  FETCH(n, type, add, old + value, add_far<type>(at, value))                                                        \
  FETCH(n, type, sub, old - value, add_far<type>(at, static_cast<type>(-value)))                                    \
  CHANGE(n, type, and, old& value)                                                                                  \
  CHANGE(n, type, or, old | value)                                                                                  \
  CHANGE(n, type, xor, old ^ value)                                                                                 \
  CHANGE(n, type, nand, ~(old & value))

ATOMICS(1, uint8_t)
ATOMICS(2, uint16_t)
ATOMICS(4, uint32_t)
ATOMICS(8, uint64_t)
