// The range of addresses that the job shares: reserved at the same address in every rank, and given to arrays by a rule
// with the same result everywhere. Reserving uses no memory. Collective use only, except contains() and offset().
#pragma once

#include <cstdint>
#include <map>

#include "base/addresses.hpp"
#include "base/ranges.hpp"
#include "base/status.hpp"

namespace hiroba {

class Space {
 public:
  // Arrays do not share a unit. They should begin at different offsets in one: else loops over several similar arrays
  // have all their streams in the same cache sets and memory banks (measured on STREAM triad: 34 against 30 GB/s).
  static constexpr uint64_t unit = huge_page_bytes;
  static constexpr uint64_t least = 2 * unit;  // the first unit stays empty

  Space() = default;
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;
  ~Space();

  // Reserves `extent` bytes: the first `shared` are shared memory, and the last `heap` of these are not for arrays. An
  // executable that lies at the start of the range stays where it is, with room for brk() and its libraries after it.
  Status reserve(uint64_t shared, uint64_t extent, uint64_t heap = 0);

  // Keeps the addresses reserved after its end; each access to them then faults.
  void keep_closed() { stays_ = true; }

  char* base() const { return base_; }
  uint64_t bytes() const { return shared_; }
  uint64_t offset(const void* address) const {
    return static_cast<uint64_t>(static_cast<const char*>(address) - base_);
  }
  bool contains(const void* address) const { return base_ != nullptr && offset(address) < shared_; }

  // Returns the offset in a unit at which the next array should begin, unless another one is better.
  uint64_t stagger() { return takes_++ % stagger_steps * stagger_bytes; }
  // Fails if the array is too large for the whole space. Called before the caller computes the start of an array.
  Status check(uint64_t bytes) const;
  // Finds room for `bytes`, `start` bytes into a unit, with at least a page after it that belongs to no array. It uses
  // fresh addresses while there are any, so that a use after free is detected.
  Status take(uint64_t bytes, uint64_t start, uint64_t& offset);
  void give(uint64_t offset);
  // Returns the bytes around an array, from the end of the one before to the begin of the one after: tables by page
  // have nothing else there, so when it is freed, they give back what they have of this range.
  struct Room {
    uint64_t begin, end;
  };
  Room room_of(uint64_t offset) const;

  // Makes [offset, offset+bytes) inaccessible again.
  Status clear(uint64_t offset, uint64_t bytes);

 private:
  Status no_room(uint64_t bytes) const;

  char* base_ = nullptr;
  uint64_t reserved_from_ = 0;  // before it lies the executable
  bool stays_ = false;
  static constexpr uint64_t stagger_bytes = uint64_t{68} << 10, stagger_steps = 16;

  uint64_t shared_ = 0, arrays_ = 0, extent_ = 0, next_ = unit, takes_ = 0;
  std::map<uint64_t, uint64_t> taken_;  // offset -> bytes
  FreeRanges given_;
};

}  // namespace hiroba
