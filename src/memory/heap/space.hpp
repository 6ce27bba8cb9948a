// The addresses of the heap: the home of each part, the rank that allocates objects in each chunk, and the size of the
// objects on each page. All of this lies in control segments and tables of the home, never in the pages of objects.
//
// A rank takes whole chunks of the part of any home, by atomic operations, and keeps them until the job ends, so this
// rank's knowledge of a chunk stays true. README.md, "Heap", describes the rest.
//
// Owner: Heap. Thread-safe after start(). Calls may block for an answer of the home, if that is on another node.
#pragma once

#include <atomic>
#include <vector>

#include "memory/layout.hpp"
#include "memory/sparse.hpp"
#include "transport/transport.hpp"

namespace hiroba {

class HeapSpace {
 public:
  static constexpr uint64_t chunk_shift = 21, chunk_bytes = uint64_t{1} << chunk_shift;
  // The size of one attached range. It is limited because a network card may pin a whole range.
  static constexpr uint64_t attached_bytes = uint64_t{1} << 30;
  // The largest part of one home for which the tables in a control segment have room.
  static constexpr uint64_t most_bytes = uint64_t{1} << 42;

  struct Config {
    Layout layout;
    Job job;
    char* base = nullptr;  // address of offset 0
    Transport* transport = nullptr;
    uint64_t limit = 0;  // largest size of this rank's part
  };
  Status start(const Config& config);

  // Returns the position of an address, from the beginning of the heap; at least bytes() if it is not in the heap.
  uint64_t position(const void* address) const {
    return static_cast<uint64_t>(static_cast<const char*>(address) - begin_);
  }
  char* address(uint64_t position) const { return begin_ + position; }
  uint64_t bytes() const { return bytes_; }
  int home(uint64_t position) const { return static_cast<int>(position >> part_shift_); }
  uint64_t page(uint64_t position) const { return first_page_ + (position >> page_shift); }

  // Returns zero-filled memory for objects that this rank allocates; null if the home's part has no room.
  char* take(int home, uint64_t bytes, uint64_t alignment);
  // Returns the rank that allocates there; -1 if none.
  int owner(uint64_t position) {
    const int32_t known = owners_[position >> chunk_shift].load(std::memory_order_relaxed);
    return known != 0 ? known - 1 : learn_owner(position);
  }
  // Returns the bytes that each rank has taken of a home's part.
  std::vector<uint64_t> taken(int home) const;
  uint64_t limit(int home) const;

  // Sets the size of objects that begin on the page of a position, as the allocator rounds sizes up.
  void set_size(uint64_t position, uint64_t size) {
    std::atomic_ref<uint8_t> known(classes_of(home(position))[position_in_part(position) >> page_shift]);
    const uint8_t wanted = class_of(size);
    if (known.load(std::memory_order_relaxed) != wanted) publish_size(position, known, wanted);
  }
  uint64_t size(uint64_t position) const;

  // Maps sizes (4..7) << n to numbers that fit a byte.
  static constexpr uint8_t class_of(uint64_t size) {
    const int shift = 61 - __builtin_clzll(size);
    return static_cast<uint8_t>((shift << 2 | static_cast<int>(size >> shift & 3)) + 1);
  }
  static constexpr uint64_t size_of(uint8_t number) {
    return number == 0 ? 0 : (uint64_t{4} | ((number - 1) & 3)) << ((number - 1) >> 2);
  }

 private:
  bool is_here(int rank) const { return config_.job.is_here(rank); }
  uint64_t position_in_part(uint64_t position) const { return position & (config_.layout.heap_bytes - 1); }
  uint8_t* classes_of(int home) const {
    return is_here(home)
               ? reinterpret_cast<uint8_t*>(config_.base + config_.layout.heap_classes(home))
               : class_copies_.as<uint8_t>() + static_cast<uint64_t>(home) * (config_.layout.heap_bytes >> page_shift);
  }
  uint64_t next_chunk(int home) const { return config_.layout.heap_control(home); }
  uint64_t limit_at(int home) const { return next_chunk(home) + sizeof(uint64_t); }
  uint64_t owner_at(int home, uint64_t chunk) const { return next_chunk(home) + page_bytes + chunk * sizeof(int32_t); }
  int learn_owner(uint64_t position);
  void publish_size(uint64_t position, std::atomic_ref<uint8_t>& known, uint8_t wanted) const;

  Config config_;
  char* begin_ = nullptr;
  uint64_t bytes_ = 0, first_page_ = 0;
  int part_shift_ = 0;
  SparseFile owner_copies_, class_copies_;  // known owners; for other nodes, the sizes that this rank has written
  std::atomic<int32_t>* owners_ = nullptr;  // rank + 1, by chunk of the heap
};

}  // namespace hiroba
