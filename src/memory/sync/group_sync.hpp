// Part of the contract of this floor: release and acquire with some other ranks, each of which names this rank in turn,
// by the split barrier of some (collective.hpp).
//
// Only what those ranks have written is visible after await(). Until the next sync_drop of all, no rank may use what a
// rank has written that it has not waited for since. All that a rank then reads of other nodes, it must preload first.
//
// Owner: Memory. For the thread that makes collective calls; every rank calls arrive(), and await() for what it needs.
#pragma once

#include <span>

#include "collective/collective.hpp"

namespace hiroba {

struct MemoryParts;

class GroupSync {
 public:
  using Work = Arrivals::Work;

  explicit GroupSync(MemoryParts& parts) : parts_(parts) {}

  // Whether ranks arrive before await(), because this process reaches all ranks' memory. Elsewhere await() does all.
  bool splits() const;
  // `home_writes`: since the last such call this rank has written nothing but what lives on its node. Until await() it
  // may use what lives on its node and none of the others uses before it arrives. A rank with home_writes may first
  // arrive with a part of its work, and do the rest of it, which must use nothing but what lives on its node, before it
  // arrives with all.
  void arrive(const char* call, bool home_writes, Work done);
  bool arrived(std::span<const int> others, Work needed) const;  // where it splits
  Status await(const char* call, std::span<const int> others, Work needed);

 private:
  void release();

  MemoryParts& parts_;
  bool home_writes_ = false;
};

}  // namespace hiroba
