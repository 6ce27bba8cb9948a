// Memory that the program allocates. Small objects are the heap's. Large ones lie in an array whose pages move to the
// ranks that write them; each rank has a part of its addresses. Untouched pages use no memory.
//
// Owner: the process (instance<Objects>). Thread-safe after begin().
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>

#include "memory/memory.hpp"

namespace hiroba::openmp {

class Objects {
 public:
  Status begin(Memory& memory, const Program& program);  // collective
  void end() { memory_ = nullptr; }

  // Returns null if there is no room.
  void* allocate(size_t bytes, size_t alignment, bool zeroed);
  void free(void* object);
  size_t size(const void* object) const;
  // Option check: an object that this rank has allocated, and the place in the program.
  struct Known {
    const char* begin = nullptr;  // null: there is none
    size_t bytes = 0;
    const char* place = "";
  };
  Known find(const void* address);
  // Returns true if the object is from here, also after the end.
  bool has(const void* address) const;

  static constexpr size_t least_large = size_t{64} << 10;

 private:
  // Before each large object.
  struct alignas(64) Head {
    uint64_t begin, bytes, room;  // begin: the offset of its addresses in the part; room: their number
    int32_t rank;
  };
  static constexpr uint64_t most_returned = 8192;
  struct Returns {  // of each rank: objects that others have freed
    int64_t count;
    int64_t object[most_returned];
  };
  bool is_large(const void* object) const;
  void* allocate_large(size_t bytes, size_t alignment, bool zeroed);
  void give(uint64_t begin, uint64_t room);
  void take_returns();
  void note(const void* object, size_t bytes);
  const char* place_of_caller();

  Memory* memory_ = nullptr;
  std::span<const char> heap_;
  char* large_ = nullptr;
  uint64_t large_bytes_ = 0, part_bytes_ = 0;
  Returns* returns_ = nullptr;
  std::mutex lock_;
  std::map<uint64_t, uint64_t> free_;  // begin -> room, in this rank's part
  uint64_t used_ = 0;                  // beyond it nothing has been used
  int64_t returned_ = 0;
  Program program_;
  std::mutex known_lock_;
  std::map<const char*, Known> known_;         // option check, by their ends; others may have freed them
  std::map<const void*, std::string> places_;  // of code that allocates
};

}  // namespace hiroba::openmp
