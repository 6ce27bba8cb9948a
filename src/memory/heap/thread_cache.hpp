// Free small objects that each thread keeps for its next allocations, by size. Most allocations and frees of objects of
// this rank with their home here take one from the cache or put one there, without a lock or a call of the allocator.
// If the cache is empty or full, half a load is fetched from the allocator or given back to it.
//
// Owner: Heap, which has one HeapThreadCaches. A cache belongs to its thread; its objects go back to the allocator when
// the thread ends. The static functions may be called at any time, also before the start and after the end. Nothing
// blocks, except a called allocator.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "memory/heap/space.hpp"
#include "memory/sparse.hpp"

namespace hiroba {

// The cache of one thread.
class HeapThreadCache {
 public:
  static constexpr size_t largest = 1024;  // larger objects are not kept

  // Returns an object that this thread has kept; null if there is none: HeapThreadCaches::take() then fetches some.
  static void* allocate(size_t bytes) {
    HeapThreadCache* const self = current;
    if (self == nullptr || bytes - 1 >= largest) return nullptr;
    Bin& bin = self->bins_[class_of(bytes)];
    if (bin.count == 0 || self->until_sample < static_cast<int64_t>(bytes)) return nullptr;
    self->until_sample -= static_cast<int64_t>(bytes);
    return bin.object[bin.pop()];
  }
  // Keeps the object. Returns false if this thread may not keep it, or has no room for it; it is then not freed.
  static bool free(void* object) {
    HeapThreadCache* const self = current;
    if (self == nullptr) return false;
    const auto position = static_cast<uint64_t>(static_cast<char*>(object) - self->begin_);
    if (position >= self->bytes_ || position % sizeof(uint64_t) != 0) return false;
    const uint8_t number = self->classes_[position >> page_shift].load(std::memory_order_relaxed);
    if (number == 0) return false;
    return self->bins_[number].push(object);
  }

  // The bytes that this thread allocates until the next sample of the places; allocate() then returns null.
  int64_t until_sample = 0;

 private:
  friend class HeapThreadCaches;
  friend struct HeapThreadEnd;
  static constexpr size_t classes = 34;          // HeapSpace::class_of, of 8 to 1024 bytes
  static constexpr uint32_t most_objects = 128;  // of a class

  struct Bin {
    std::atomic<uint32_t> count{0};  // changed by the thread alone
    uint32_t most = 0, load = 4;     // limit of objects; number of objects that the next refill fetches
    std::array<void*, most_objects> object;

    uint32_t pop() {
      const uint32_t last = count.load(std::memory_order_relaxed) - 1;
      count.store(last, std::memory_order_relaxed);
      return last;
    }
    bool push(void* freed) {
      const uint32_t n = count.load(std::memory_order_relaxed);
      if (n >= most) return false;
      object[n] = freed;
      count.store(n + 1, std::memory_order_relaxed);
      return true;
    }
  };
  static uint8_t class_of(size_t bytes) { return class_of_units[(bytes + 7) / 8]; }
  static const std::array<uint8_t, largest / 8 + 1> class_of_units;
  static constinit thread_local HeapThreadCache* current __attribute__((tls_model("initial-exec")));

  char* begin_ = nullptr;  // of the heap; with 0 bytes no address is in it
  uint64_t bytes_ = 0;
  std::atomic<uint8_t>* classes_ = nullptr;
  std::array<Bin, classes> bins_;
};

class HeapThreadCaches {
 public:
  struct Config {
    char* begin = nullptr;  // of the addresses of the heap
    uint64_t bytes = 0;
    std::function<void*(size_t bytes)> allocate;  // a small object; null: there is no room
    std::function<void(void* object)> free;
    int64_t sample = 0;  // bytes that a thread allocates from one sample to the next
  };
  HeapThreadCaches() = default;
  ~HeapThreadCaches();  // afterwards no thread keeps an object
  Status start(Config config);

  // Returns this thread's cache.
  HeapThreadCache& mine() {
    HeapThreadCache* const known = HeapThreadCache::current;
    return known != nullptr && known->begin_ == config_.begin && known->bytes_ != 0 ? *known : make();
  }
  // Returns a small object from this thread's cache, which the allocator refills; null if the allocator has no room.
  void* take(size_t bytes);
  // Keeps a small object; frees some if there is no room. Returns false if it is none.
  bool put(void* object);
  // Sets the size of the objects of this rank that begin on a page, if threads may keep them; 0 if they may not.
  void set_size(uint64_t position, uint64_t bytes) {
    const uint8_t number = bytes == 0 || bytes > HeapThreadCache::largest ? 0 : HeapSpace::class_of(bytes);
    std::atomic<uint8_t>& known = classes_.as<std::atomic<uint8_t>>()[position >> page_shift];
    if (known.load(std::memory_order_relaxed) != number) known.store(number, std::memory_order_relaxed);
  }
  // Returns the bytes that all threads keep, approximately.
  uint64_t kept() const;

 private:
  friend struct HeapThreadEnd;
  HeapThreadCache& make();
  void release(HeapThreadCache::Bin& bin, uint32_t left) const;
  void end_of_thread(HeapThreadCache* cache);

  Config config_;
  SparseFile classes_;  // a byte for each page of the heap
  mutable std::mutex lock_;
  std::vector<std::unique_ptr<HeapThreadCache>> caches_;  // guarded by lock_
};

}  // namespace hiroba
