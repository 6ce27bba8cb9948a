// Free small objects that each thread keeps for its next allocations, by size: most allocations and frees of objects of
// this rank with their home here take one from there or put one there, with no lock and no call of the allocator. Where
// there is none, or no more room, half a load is fetched from the allocator, or given back to it.
//
// Owner: Heap, which has one HeapThreadCaches. A cache belongs to its thread; what it holds goes back to the allocator
// when the thread ends. The static functions may be called at any time, also before the start and after the end.
// Nothing blocks, but for the allocator that is called.
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

// One thread's.
class HeapThreadCache {
 public:
  static constexpr size_t largest = 1024;  // larger objects are not kept

  // An object that this thread has kept; null: there is none, and HeapThreadCaches::take() gets some.
  static void* allocate(size_t bytes) {
    HeapThreadCache* const self = current;
    if (self == nullptr || bytes - 1 >= largest) return nullptr;
    Bin& bin = self->bins_[class_of(bytes)];
    if (bin.count == 0 || self->until_sample < static_cast<int64_t>(bytes)) return nullptr;
    self->until_sample -= static_cast<int64_t>(bytes);
    return bin.object[bin.pop()];
  }
  // False: it is no object that this thread may keep, or there is no room for it, and it is not freed.
  static bool free(void* object) {
    HeapThreadCache* const self = current;
    if (self == nullptr) return false;
    const auto position = static_cast<uint64_t>(static_cast<char*>(object) - self->begin_);
    if (position >= self->bytes_ || position % sizeof(uint64_t) != 0) return false;
    const uint8_t number = self->classes_[position >> page_shift].load(std::memory_order_relaxed);
    if (number == 0) return false;
    return self->bins_[number].push(object);
  }

  // How many bytes this thread allocates until the next sample of the places; allocate() gives none after that.
  int64_t until_sample = 0;

 private:
  friend class HeapThreadCaches;
  friend struct HeapThreadEnd;
  static constexpr size_t classes = 34;          // HeapSpace::class_of, of 8 to 1024 bytes
  static constexpr uint32_t most_objects = 128;  // of a class

  struct Bin {
    std::atomic<uint32_t> count{0};  // changed by the thread alone
    uint32_t most = 0, load = 4;     // objects; how many of them the next refill fetches
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

  char* begin_ = nullptr;  // of the heap; nothing is of it while there are no bytes
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
  ~HeapThreadCaches();  // no thread keeps anything any more
  Status start(Config config);

  // Of this thread.
  HeapThreadCache& mine() {
    HeapThreadCache* const known = HeapThreadCache::current;
    return known != nullptr && known->begin_ == config_.begin && known->bytes_ != 0 ? *known : make();
  }
  // A small object, from this thread's cache, filled by the allocator; null: that has no room.
  void* take(size_t bytes);
  // Keeps a small object, or frees some. False if it is not one.
  bool put(void* object);
  // How large the objects are that begin on the page of an object which this rank has allocated, if threads may keep
  // them; 0: they may not.
  void set_size(uint64_t position, uint64_t bytes) {
    const uint8_t number = bytes == 0 || bytes > HeapThreadCache::largest ? 0 : HeapSpace::class_of(bytes);
    std::atomic<uint8_t>& known = classes_.as<std::atomic<uint8_t>>()[position >> page_shift];
    if (known.load(std::memory_order_relaxed) != number) known.store(number, std::memory_order_relaxed);
  }
  // Bytes that all threads keep, about.
  uint64_t kept() const;

 private:
  friend struct HeapThreadEnd;
  HeapThreadCache& make();
  void release(HeapThreadCache::Bin& bin, uint32_t left) const;
  void end_of_thread(HeapThreadCache* cache);

  Config config_;
  SparseFile classes_;  // a byte for each page of the heap
  mutable std::mutex lock_;
  std::vector<std::unique_ptr<HeapThreadCache>> caches_;  // under that lock
};

}  // namespace hiroba
