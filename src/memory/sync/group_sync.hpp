// Part of the contract of this floor: release and acquire with some other ranks, each of which names this rank in turn,
// by the split barrier of some (collective.hpp).
//
// After await() only the writes of those ranks are visible. Until the next sync_drop of all, no rank may use writes of
// a rank that it has not waited for since. A rank must preload all that it then reads of other nodes.
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

  // Returns whether ranks arrive before await(), because this process reaches all ranks' memory. Elsewhere await() does
  // all.
  bool splits() const;
  // `home_writes`: since the last such call this rank has written only memory of its node. Until await() it may use
  // memory of its node that none of the others uses before it arrives. A rank with home_writes may first arrive with a
  // part of its work, and do the rest, which must use only memory of its node, before it arrives with all.
  void arrive(const char* call, bool home_writes, Work done);
  bool arrived(std::span<const int> others, Work needed) const;  // if splits()
  Status await(const char* call, std::span<const int> others, Work needed);

 private:
  void release(const char* call);

  MemoryParts& parts_;
  bool home_writes_ = false;
};

}  // namespace hiroba
