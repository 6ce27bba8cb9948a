// Atomic operations on objects of 16 bytes, and of any size, which no instruction of every processor performs: under
// one lock, which carries what was written. Those of other libraries (libatomic) would know this process alone.
#include <cstring>
#include <mutex>

#include "openmp/openmp.hpp"
#include "process/process.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace hiroba::openmp {

namespace {

class Exclusive {
 public:
  Exclusive() : shared_(instance<Regions>().started()) {
    if (shared_) words::lock(&instance<Regions>().locks().wide);
    else alone.lock();
  }
  Exclusive(const Exclusive&) = delete;
  ~Exclusive() {
    if (shared_) words::unlock(&instance<Regions>().locks().wide);
    else alone.unlock();
  }

 private:
  static inline std::mutex alone;
  bool shared_;
};

void load(size_t bytes, const void* object, void* out) {
  const Exclusive exclusive;
  std::memcpy(out, object, bytes);
}

void store(size_t bytes, void* object, const void* value) {
  const Exclusive exclusive;
  std::memcpy(object, value, bytes);
}

void exchange(size_t bytes, void* object, const void* value, void* out) {
  const Exclusive exclusive;
  std::memcpy(out, object, bytes);
  std::memcpy(object, value, bytes);
}

bool compare_exchange(size_t bytes, void* object, void* expected, const void* desired) {
  const Exclusive exclusive;
  const bool same = std::memcmp(object, expected, bytes) == 0;
  if (same) std::memcpy(object, desired, bytes);
  else std::memcpy(expected, object, bytes);
  return same;
}

using Wide = unsigned __int128;

template <typename Change>
Wide update(volatile void* object, const Change& change) {
  const Exclusive exclusive;
  Wide old = 0;
  std::memcpy(&old, const_cast<const void*>(object), sizeof old);
  const Wide next = change(old);
  std::memcpy(const_cast<void*>(object), &next, sizeof next);
  return old;
}

}  // namespace

}  // namespace hiroba::openmp

using namespace hiroba::openmp;

// The names are functions that the compiler knows with types of its own, so they get them as names of symbols.
#define NAMED(name) __asm__("__atomic_" name) __attribute__((visibility("default")))

extern "C" {
void any_load(size_t, const volatile void*, void*, int) NAMED("load");
void any_store(size_t, volatile void*, const void*, int) NAMED("store");
void any_exchange(size_t, volatile void*, const void*, void*, int) NAMED("exchange");
bool any_compare_exchange(size_t, volatile void*, void*, const void*, int, int) NAMED("compare_exchange");

void any_load(size_t bytes, const volatile void* object, void* out, int) {
  load(bytes, const_cast<const void*>(object), out);
}
void any_store(size_t bytes, volatile void* object, const void* value, int) {
  store(bytes, const_cast<void*>(object), value);
}
void any_exchange(size_t bytes, volatile void* object, const void* value, void* out, int) {
  exchange(bytes, const_cast<void*>(object), value, out);
}
bool any_compare_exchange(size_t bytes, volatile void* object, void* expected, const void* desired, int, int) {
  return compare_exchange(bytes, const_cast<void*>(object), expected, desired);
}
}

EXPORT Wide __atomic_load_16(const volatile void* object, int) {
  Wide out = 0;
  load(sizeof out, const_cast<const void*>(object), &out);
  return out;
}
EXPORT void __atomic_store_16(volatile void* object, Wide value, int) {
  store(sizeof value, const_cast<void*>(object), &value);
}
EXPORT Wide __atomic_exchange_16(volatile void* object, Wide value, int) {
  Wide out = 0;
  exchange(sizeof value, const_cast<void*>(object), &value, &out);
  return out;
}
EXPORT bool __atomic_compare_exchange_16(volatile void* object, void* expected, Wide desired, bool, int, int) {
  return compare_exchange(sizeof desired, const_cast<void*>(object), expected, &desired);
}

#define FETCH(name, next)                                                                   \
  EXPORT Wide __atomic_fetch_##name##_16(volatile void* object, Wide value, int) {          \
    return update(object, [value](Wide old) { return static_cast<Wide>(next); });           \
  }                                                                                         \
  EXPORT Wide __atomic_##name##_fetch_16(volatile void* object, Wide value, int) {          \
    const Wide old = update(object, [value](Wide old) { return static_cast<Wide>(next); }); \
    return static_cast<Wide>(next);                                                         \
  }
FETCH(add, old + value)
FETCH(sub, old - value)
FETCH(and, old& value)
FETCH(or, old | value)
FETCH(xor, old ^ value)
FETCH(nand, ~(old& value))
