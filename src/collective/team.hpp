// Teams: ordered sets of ranks, which indices of members count in; and what members agree on. Values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hiroba {

// The ranks first, first + step, ..., or those of the table, which belongs to the code that made it.
struct Team {
  int first = 0, step = 1, count = 0;
  const int* table = nullptr;

  bool contains(int member) const { return member >= 0 && member < count; }
  int rank(int member) const { return table != nullptr ? table[member] : first + member * step; }
  // The index of a rank; -1 if it is not there.
  int find(int rank) const {
    if (table == nullptr) {
      const int steps = step == 0 ? 0 : (rank - first) / step;
      return contains(steps) && first + steps * step == rank ? steps : -1;
    }
    for (int i = 0; i < count; ++i)
      if (table[i] == rank) return i;
    return -1;
  }
  bool is_all(int nranks) const { return table == nullptr && first == 0 && step == 1 && count == nranks; }
  static Team all(int nranks) { return {0, 1, nranks, nullptr}; }
  // Equal teams have equal names, and others hardly ever.
  uint64_t name() const {
    uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (int i = 0; i < count; ++i) hash = (hash ^ static_cast<uint32_t>(rank(i))) * 0x100000001b3;
    return hash;
  }
};

// A team whose members have made it together.
struct Members {
  Team team;
  std::vector<int> table;           // of the team, if it needs one
  int me = 0;                       // this rank's index
  int lane = -1;                    // for small exchanges (lanes.hpp); -1: it has none
  uint32_t calls = 0;               // in the lane
  uint32_t compared = 0;            // up to this call, the names of all members
  std::vector<const char*> blocks;  // of the blocking call under way in the lane
};

// Words that ranks join at a barrier: `into` with `other`, of equal length. No words: nothing is joined.
using Words = std::vector<uint32_t>;
using Join = void (*)(Words& into, std::span<const uint32_t> other);

// Operations of one team that follow each other, and that its ranks have agreed on at once.
struct Sequence {
  Team team;
  int me;  // this rank's index in it
  uint64_t name, number;
  uint64_t digest;          // of all calls for the team up to this one, for the others to compare
  const char* what;         // this one; outlives the operations
  int lane = -1;            // the lane of the members, if it is known here, and how many calls
  uint32_t lane_calls = 0;  // this rank had begun in it
};

}  // namespace hiroba
