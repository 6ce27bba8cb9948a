// Part of the contract of this floor: release and acquire of all shared memory. docs/memory-model.md says what a
// program may rely on, README.md beside this file how it is done.
//
// Owner: Memory. Everything but sync(), release_to(), acquire_from(), drop_copies() and note_order() is collective, or
// for the thread that makes collective calls.
#pragma once

#include <cstdint>
#include <vector>

#include "base/shown.hpp"
#include "memory/array.hpp"

namespace hiroba {

struct MemoryParts;

class Consistency {
 public:
  explicit Consistency(MemoryParts& parts) : parts_(parts) {}

  [[HIROBA_SHOWN]] Status barrier(const char* call);
  Status sync_drop(const char* call);
  // The same in two halves. In between this rank may use what no other does, be it before its start or after its end.
  Status start_sync_drop(const char* call, bool halves = true);
  Status end_sync_drop();  // after a start
  void sync();
  // For messages and locks of floors above. release_to() comes before a message to that rank is sent, or a lock in its
  // memory is released; acquire_from() acquires all that was released to that rank: after this rank has received a
  // message, from itself; after it has acquired a lock, from the rank whose memory holds the lock.
  void release_to(int rank);
  void acquire_from(int rank);
  // Forgets every copy, and sends home what was written. For finding out what is used from then on.
  void drop_copies();
  // Option check: something that this floor does not see may order what this rank did before and does after.
  void note_order();
  // Pages that this rank knows it has written since the last barrier: of other nodes, and those of its own that others
  // have copied. For diagnosis, while no other thread of the rank touches shared memory; a barrier must follow.
  PageSet written();

 private:
  void read_notices();
  Status move_homes(const char* call);

  MemoryParts& parts_;
  std::vector<uint64_t> words_, covered_;  // of barriers
};

}  // namespace hiroba
