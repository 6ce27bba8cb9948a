// The split barrier of some ranks, for processes that reach all ranks' memory: an arrival counter at the start of each
// rank's scratch memory. Every rank calls arrive(); await() returns when `others` have arrived as often as this rank. A
// rank may first arrive with a part of its work; await(part) does not wait for the rest.
//
// Owner: Collective. Only the thread that makes collective calls may call it; await() blocks.
#pragma once

#include <atomic>
#include <span>

#include "collective/world.hpp"

namespace hiroba {

class Arrivals {
 public:
  enum class Work { part, all };

  // `scratch`: offset of rank 0's scratch memory; `stride`: distance between two ranks' scratch memory.
  void start(const World& world, uint64_t scratch, uint64_t stride) {
    world_ = &world, scratch_ = scratch, stride_ = stride;
  }
  bool reaches_all() const;
  // Returns true if this rank has arrived with a part only.
  bool arrived_with_part() const;
  void arrive(const char* call, Work done);
  bool arrived(std::span<const int> others, Work needed) const;
  Status await(const char* call, std::span<const int> others, Work needed);

 private:
  uint64_t place(int rank) const;
  std::atomic<uint32_t>& word(int rank, int number) const;
  bool has_arrived(int rank, Work needed) const;

  const World* world_ = nullptr;
  uint64_t scratch_ = 0, stride_ = 0;
};

}  // namespace hiroba
