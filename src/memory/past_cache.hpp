// Part of the contract of this floor: access to shared memory at its home, past the program's view and the page cache,
// for floors above that keep their own order of accesses (transactions).
//
// Owner: Memory. Thread-safe; changed() may send this rank's writes to the page home.
#pragma once

#include <cstdint>

#include "base/shown.hpp"
#include "base/status.hpp"

namespace hiroba {

struct MemoryParts;

class PastCache {
 public:
  explicit PastCache(MemoryParts& parts) : parts_(parts) {}

  struct Place {
    int rank;         // the home
    uint64_t offset;  // in the address range
    bool here;        // the home is on this node
  };
  // Fails if the address is in no array. Until changes() is another number, all addresses of a page have their home on
  // one rank, and settle() has nothing to do for a page again: no array was freed or has other homes, and this rank has
  // fetched no page.
  [[HIROBA_SHOWN]] Status locate(const void* address, Place& out) const;
  uint64_t changes() const;
  // Sends what this rank has stored into its copy of the page home, and drops the copy: its own plain stores come
  // before what the caller then does at the home. Blocks.
  void settle(const Place& place) const;
  // Returns the address at which this process accesses it at its home; null if that takes messages. With option check
  // an access there does not count as one of the program.
  char* reach(const Place& place) const;
  // Returns true if reach() is the program's own view.
  bool is_view(const Place& place) const;
  // The caller has changed the home by reach() or a message: the page goes into this rank's notices, and its copy here
  // is dropped.
  void changed(const Place& place) const;

  // For option check, and only with it. The program accesses the bytes of this word that the mask selects. An access is
  // in a turn; a turn has a position among all turns of all ranks, which is known at its end.
  void record(uint64_t word, uint64_t mask, bool writes) const;
  uint32_t begin_turn() const;
  void end_turn(uint32_t turn, uint64_t position) const;
  // The same if the order is not known: what comes before and after counts as ordered with what is so on other ranks.
  void order() const;

  // Sends this rank's writes home and drops its copies: what it then reads is what the homes have.
  void synchronise() const;

 private:
  MemoryParts& parts_;
};

}  // namespace hiroba
