// Notes about objects of the heap that this rank has allocated: all with option check, else samples.
//
// Owner: Heap. Thread-safe after start(). may_have() takes no lock, because each free begins with it.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "memory/layout.hpp"
#include "memory/sparse.hpp"

namespace hiroba {

struct HeapObject {
  uint64_t bytes;  // the requested size
  int64_t weight;  // bytes that it represents in the amount of its place
  uint32_t site;   // the place of its allocation (HeapSites)
};

class HeapObjects {
 public:
  Status start(uint64_t heap_bytes) {
    HIROBA_TRY(pages_.create("hiroba-heap-notes", heap_bytes >> page_shift));
    return {};
  }

  void add(uint64_t position, const HeapObject& object) {
    const std::lock_guard<std::mutex> guard(lock_);
    objects_[position] = object;
    page(position).store(1, std::memory_order_relaxed);
  }
  // Returns whether an object that begins on this page may have been noted.
  bool may_have(uint64_t position) const { return page(position).load(std::memory_order_relaxed) != 0; }
  std::optional<HeapObject> take(uint64_t position) {
    const std::lock_guard<std::mutex> guard(lock_);
    const auto found = objects_.find(position);
    if (found == objects_.end()) return {};
    const HeapObject object = found->second;
    objects_.erase(found);
    return object;
  }
  std::optional<HeapObject> find(uint64_t position) const {
    const std::lock_guard<std::mutex> guard(lock_);
    const auto found = objects_.find(position);
    return found == objects_.end() ? std::nullopt : std::optional(found->second);
  }
  // Calls visit(position, object) for all; slow, and holds the lock.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    const std::lock_guard<std::mutex> guard(lock_);
    for (const auto& [position, object] : objects_) visit(position, object);
  }

 private:
  std::atomic_ref<uint8_t> page(uint64_t position) const {
    return std::atomic_ref(pages_.as<uint8_t>()[position >> page_shift]);
  }

  SparseFile pages_;  // a byte each: not 0 if an object was noted there
  mutable std::mutex lock_;
  std::unordered_map<uint64_t, HeapObject> objects_;
};

}  // namespace hiroba
