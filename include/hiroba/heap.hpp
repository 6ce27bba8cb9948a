// heap.hpp: objects and containers of C++ in the shared memory of the heap (sms.h).
//
//   hiroba::global_vector<double> v(100);                           // its elements are shared, at home on this rank
//   std::map<int, T, std::less<>, hiroba::global_allocator<std::pair<const int, T>>> m;
//   auto* tree = hiroba::make_global<Tree>(arguments);              // an object that other ranks may use
//   hiroba::delete_global(tree);                                    // by any rank
//   std::pmr::vector<int> w(hiroba::global_resource());
//
// A container that several ranks use must itself be in shared memory, made by make_global; writes to it reach other
// ranks by locks and barriers, as in all shared memory. Any rank may change it, and free its objects; memory that a
// rank then allocates has its home at that rank, or at the one that the allocator names. This does not hold for
// std::pmr: such a container has the address of a private object, so only the rank that has made it may change it.
// Objects with virtual functions have private addresses, too, and belong in private memory unless ranks map the program
// at the same place. Thread-safe to the extent that sms.h is; errors end the job, so nothing here throws.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "sms.h"

namespace hiroba {

// Allocates memory with its home at `home`; -1: at the rank that allocates.
template <typename T>
class global_allocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using is_always_equal = std::true_type;  // any one may free memory of another

  global_allocator() noexcept : home_(-1) {}
  explicit global_allocator(int home) noexcept : home_(home) {}
  template <typename U>
  global_allocator(const global_allocator<U>& other) noexcept : home_(other.home()) {}

  T* allocate(std::size_t n) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(n, sizeof(T), &bytes)) bytes = static_cast<std::size_t>(-1);  // refused, with a message
    if constexpr (alignof(T) > alignof(std::max_align_t)) {
      static_assert(alignof(T) <= 4096, "such an alignment is not served");
      return static_cast<T*>(sms_aligned_alloc_at(alignof(T), bytes, "hiroba::global_allocator"));
    } else {
      return static_cast<T*>(home_ < 0 ? sms_malloc_at(bytes, "hiroba::global_allocator")
                                       : sms_malloc_on_at(bytes, home_, "hiroba::global_allocator"));
    }
  }
  void deallocate(T* object, std::size_t) noexcept { sms_mfree_at(object, "hiroba::global_allocator"); }
  int home() const noexcept { return home_; }

  template <typename U>
  friend bool operator==(const global_allocator&, const global_allocator<U>&) noexcept {
    return true;
  }

 private:
  int home_;
};

template <typename T>
using global_vector = std::vector<T, global_allocator<T>>;

// Makes an object in shared memory, at home on this rank.
template <typename T, typename... Arguments>
T* make_global(Arguments&&... arguments) {
  return new (sms_aligned_alloc_at(alignof(T), sizeof(T), "hiroba::make_global"))
      T(std::forward<Arguments>(arguments)...);
}

// Destroys it; any rank may call it.
template <typename T>
void delete_global(T* object) {
  if (object == nullptr) return;
  object->~T();
  sms_mfree_at(object, "hiroba::delete_global");
}

namespace detail {
class heap_resource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    return sms_aligned_alloc_at(alignment, bytes, "hiroba::global_resource");
  }
  void do_deallocate(void* object, std::size_t, std::size_t) override {
    sms_mfree_at(object, "hiroba::global_resource");
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
};
}  // namespace detail

// Memory for the containers of std::pmr, until the program ends.
inline std::pmr::memory_resource* global_resource() {
  static detail::heap_resource resource;
  return &resource;
}

}  // namespace hiroba
