// Part of the contract of this floor: release and acquire of all shared memory. docs/memory-model.md says what a
// program may rely on, README.md in src/memory how it is done.
//
// Owner: Memory. sync(), release(), acquire(), release_to(), acquire_from(), drop_copies() and note_order() are
// thread-safe; the rest is collective, or for the thread that makes collective calls.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/shown.hpp"
#include "memory/array.hpp"

namespace hiroba {

struct MemoryParts;

class Consistency {
 public:
  explicit Consistency(MemoryParts& parts) : parts_(parts) {}

  [[HIROBA_SHOWN]] Status barrier(const char* call);
  // The same at the end of a model. It does not match barriers of the program, so that one that other ranks do not come
  // to is named.
  Status barrier_at_end(const char* call);
  Status sync_drop(const char* call);
  // sync_drop() in two halves. Between them this rank may use memory that no other rank uses before its own start or
  // after its own end.
  Status start_sync_drop(const char* call, bool halves = true);
  Status end_sync_drop();  // after a start
  void sync();
  // A barrier of some ranks: each releases before it, its ranks take the maximum of their positions, and acquire them
  // after it. There are none if this job has one node.
  std::vector<uint64_t> release();
  void acquire(std::span<const uint64_t> positions);
  // For messages and locks of floors above. release_to() precedes a message to that rank, or the release of a lock in
  // its memory. acquire_from() acquires all that was released to that rank: after this rank has received a message,
  // from itself; after it has acquired a lock, from the rank whose memory holds the lock.
  [[HIROBA_SHOWN]] void release_to(int rank);
  [[HIROBA_SHOWN]] void acquire_from(int rank);
  // Drops every copy, and sends writes home, so that later fetches show which pages are used.
  void drop_copies();
  // Option check: an event that this floor does not see may order this rank's accesses before and after it; or a turn
  // of a lock of a floor above begins or ends, with a number by which its turns are in order.
  [[HIROBA_SHOWN]] void note_order();
  enum class Turn { begins, ends };
  // The same for a word in shared memory: `changes` precedes a change of it, which may order what this rank has
  // accessed before what another one accesses after it `has_looked` at the word.
  enum class Word { changes, has_looked };
  [[HIROBA_SHOWN]] void note_word(Word what, const void* word);
  [[HIROBA_SHOWN]] void note_turn(Turn turn, int lock, uint32_t number);
  // Option check: sets a function that names what lies at an address of a rank, for messages.
  [[HIROBA_SHOWN]] void name_elements(std::function<ElementName(const void*)> name);
  // Option check: from now on this rank's accesses to these whole pages of its own part of an array with `own_open`
  // count, and no others there; none if both are null.
  [[HIROBA_SHOWN]] void watch_own(const char* begin, const char* end);
  // Returns pages that this rank knows it has written since the last barrier: of other nodes, and its own that others
  // have copied. For diagnosis, while no other thread of the rank touches shared memory; a barrier must follow.
  PageSet written();

 private:
  Status barrier(const char* call, uint64_t tag);
  MemoryParts& parts_;
  std::vector<uint64_t> words_;  // of barriers
};

}  // namespace hiroba
