// Finds the array to which an address belongs.
//
// Owner: MemoryParts. Collective calls change it (in one thread, while no other touches shared memory). Any thread may
// read it at any time, also in the fault handler, because readers use an immutable snapshot. The latest freed arrays
// are kept, for messages about their use.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "memory/array.hpp"

namespace hiroba {

class ArrayTable {
 public:
  // Returns the last array, live or freed, that begins at or before this page; null if there is none.
  Array* find(uint64_t page) const {
    const std::vector<Array*>* const arrays = current_.load(std::memory_order_acquire);
    if (arrays == nullptr) return nullptr;
    const auto after = std::upper_bound(arrays->begin(), arrays->end(), page,
                                        [](uint64_t p, const Array* a) { return p < a->first_page; });
    return after == arrays->begin() ? nullptr : *std::prev(after);
  }

  // Returns the live array whose pages include this one; null if there is none.
  Array* live(uint64_t page) const {
    Array* const array = find(page);
    return array != nullptr && !array->freed && page < array->end_page ? array : nullptr;
  }

  void insert(std::unique_ptr<Array> array) {
    forget_old();
    auto next = std::make_unique<std::vector<Array*>>();
    for (const auto& a : owned_)  // a freed array stays until its pages are used again
      if (a->end_page <= array->first_page || a->first_page >= array->end_page) next->push_back(a.get());
    next->push_back(array.get());
    std::sort(next->begin(), next->end(), [](const Array* a, const Array* b) { return a->first_page < b->first_page; });
    owned_.push_back(std::move(array));
    current_.store(next.get(), std::memory_order_release);
    snapshot_ = std::move(next);
  }

  template <typename Visit>
  void for_each_live(const Visit& visit) const {
    if (const auto* arrays = current_.load(std::memory_order_acquire))
      for (Array* a : *arrays)
        if (!a->freed) visit(*a);
  }

 private:
  static constexpr size_t freed_kept = 256;

  void forget_old() {
    size_t freed =
        static_cast<size_t>(std::count_if(owned_.begin(), owned_.end(), [](const auto& a) { return a->freed; }));
    std::erase_if(owned_, [&](const auto& a) { return a->freed && freed-- > freed_kept; });
  }

  std::atomic<const std::vector<Array*>*> current_{nullptr};
  std::unique_ptr<std::vector<Array*>> snapshot_;  // current_ points to it
  std::vector<std::unique_ptr<Array>> owned_;
};

}  // namespace hiroba
