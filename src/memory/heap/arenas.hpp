// The allocator of the heap: jemalloc, with an arena for each home at which this rank allocates. It takes memory from
// the heap's addresses and keeps its own data in private memory, so that neither an allocation nor a free touches a
// shared page.
//
// Owner: Heap; one per process. Thread-safe. allocate() may block for memory of another node (HeapSpace::take).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace hiroba {

class HeapArenas {
 public:
  struct Source {
    std::function<void*(int home, uint64_t bytes, uint64_t alignment)> take;  // null: there is no more
    std::function<void(void* address, uint64_t bytes)> give_back;             // the memory; the addresses stay
  };
  // Returns the alignment of every object of this size.
  static constexpr size_t natural_alignment(size_t bytes) { return bytes <= 8 ? 8 : 16; }

  HeapArenas();
  ~HeapArenas();
  void start(int rank, int nranks, Source source);

  // Returns null if there is no more memory. `alignment` is a power of two.
  void* allocate(int home, size_t bytes, size_t alignment, bool zeroed);
  void free(int home, void* object);
  // Returns the size of an object that this rank has allocated, as the allocator rounds it up.
  static uint64_t size(const void* object);
  // Returns the rounded size of a request at the natural alignment.
  static constexpr uint64_t rounded(size_t bytes) {
    constexpr size_t least = 8, quantum = 16;
    if (bytes <= least) return least;
    const uint64_t units = (bytes + quantum - 1) / quantum * quantum;
    const int shift = std::max(0, 61 - std::countl_zero(units - 1));  // of the unit of sizes (4..7) << shift
    return ((units - 1) >> shift << shift) + (uint64_t{1} << shift);
  }

  struct Use {
    uint64_t live = 0, used = 0;  // bytes of objects; their memory, with free memory that is kept
  };
  // Measures after the memory that has been free for long enough has been given back.
  Use use() const;

 private:
  struct Arena;
  Arena* arena(int home);
  unsigned make(Arena& arena) const;

  int rank_ = 0;
  Source source_;
  std::vector<std::atomic<Arena*>> arenas_;  // by home; null until this rank allocates there
  std::mutex making_;
};

}  // namespace hiroba
