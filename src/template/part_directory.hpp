// The directory of all ranks' parts of aligned arrays, for accesses in which the owner takes no part. Ranks allocate
// their parts alone, so each publishes them in a table in its rank memory, which others read.
//
// A part has the name of its array, the ranks that executed the declaration together, how many arrays of this name
// these have already (recursion), and how often they had as many before. Ranks that execute the same program have the
// same names for parts of one array. Owner: the caller. For the thread that makes collective calls.
#pragma once

#include <cstdint>
#include <string>

#include "collective/collective.hpp"

namespace hiroba {

class PartDirectory {
 public:
  struct Name {
    uint64_t key = 0, turn = 0;  // key 0: the table was full
  };
  static constexpr size_t most = 8192, slot_bytes = 32, bytes = most * slot_bytes;

  // `table`: zeros in this rank's own memory, at the same distance from its begin as those of all other ranks.
  void start(const World& world, char* table) { world_ = &world, table_ = table; }
  // Publishes a part of the array that is declared at that place, by a team.
  Name add(const std::string& array, const Team& team, const void* part);
  void remove(const Name& name);
  // Finds the part of the same array at another rank, as an offset. Waits until that rank has it; fails if it has freed
  // it already. `what` is for messages: "array a".
  Status find(const Name& name, int rank, const std::string& what, uint64_t& offset) const;

 private:
  struct Slot {
    uint64_t key, turn, offset, unused;
  };
  Slot read(int rank, size_t at) const;
  bool look_up(uint64_t key, int rank, Slot& out, size_t& at) const;
  // Writes a word of a slot of this rank.
  void write(size_t at, int word, uint64_t value);

  const World* world_ = nullptr;
  char* table_ = nullptr;
};

}  // namespace hiroba
