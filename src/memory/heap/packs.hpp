// Option heap-pack: pages of small objects that all ranks of a node fill together. Such a page has objects of one size;
// bits for its taken places lie in the control segment of the node's first rank, so neither an allocation nor a free
// touches the page. README.md, "Heap".
//
// Owner: Heap; the ranks of a node share one table. Thread-safe after start(), and between these ranks, by a lock in
// shared memory. It is held for a search of some words, and while a chunk is taken or a page is given back.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/wait.hpp"
#include "memory/heap/space.hpp"

namespace hiroba {

class HeapPacks {
 public:
  static constexpr uint32_t most_chunks = 512;
  // The number of wholly free pages of a node that keep their memory.
  static constexpr uint32_t most_empty = 64;
  // Offset in the heap's part of the control segment of the node's first rank.
  static constexpr uint64_t table_at = uint64_t{40} << 20;

  struct Config {
    Layout layout;
    Job job;
    char* base = nullptr;
    HeapSpace* space = nullptr;
    // Gives the memory of a page back to the system.
    std::function<void(void* page, uint64_t bytes)> give_back;
  };
  Status start(Config config);
  bool on() const { return table_ != nullptr; }

  // Returns an object whose size is rounded up to `bytes`; null if there is no room.
  void* take(size_t bytes);
  void put(void* object);
  // has() returns whether an object that begins there is in such a page; size() returns the size of that page's
  // objects.
  bool has(uint64_t position) { return on() && config_.space->home(position) == keeper_ && chunk_of(position) != 0; }
  uint64_t size(uint64_t position) { return HeapSpace::size_of(page_at(position).size_class); }

  // Returns the bytes of objects that this rank has taken, less those that it has put back, which other ranks may have
  // taken.
  int64_t taken() const { return taken_.load(std::memory_order_relaxed); }
  // Returns the memory of the node's pages that have objects, or keep their memory.
  uint64_t used() const;

 private:
  static constexpr uint64_t pages_per_chunk = HeapSpace::chunk_bytes >> page_shift;
  static constexpr size_t classes = 34;  // HeapSpace::class_of, of 8 to 1024 bytes
  static constexpr uint64_t least = 16;  // bytes of a place: smaller objects take as much

  struct Page {
    uint64_t places[page_bytes / least / 64];  // a bit each: taken
    uint32_t next;                             // in the list of pages of its class with free places; numbers start at 1
    uint16_t taken;
    uint8_t size_class;  // 0: no objects yet; else it never changes
    bool given_back;     // while wholly free, it has given its memory back
  };
  struct Table {
    SignalSafeLock lock;
    uint32_t chunks, pages;  // taken chunks; pages of the latest one that have a class
    uint32_t empty, given_back;
    uint32_t with_room[classes];
    std::atomic<uint64_t> chunk[most_chunks];  // its position in the heap, plus one
    Page page[most_chunks * pages_per_chunk];
  };
  static_assert(table_at + sizeof(Table) <= Layout::heap_control_bytes);

  uint32_t chunk_of(uint64_t position);
  Page& page_at(uint64_t position) {
    return table_->page[(chunk_of(position) - 1) * pages_per_chunk + (position >> page_shift) % pages_per_chunk];
  }
  uint64_t position_of(uint32_t number) const;
  uint32_t fresh_page(uint8_t size_class);
  void link(uint32_t number);

  Config config_;
  int keeper_ = -1;
  Table* table_ = nullptr;
  SparseFile known_;  // by chunk of the heap: 0 not known, 1 not one of these, or its number + 1
  std::atomic<int64_t> taken_{0};
};

}  // namespace hiroba
