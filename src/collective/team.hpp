// Teams: ordered sets of ranks, which members' indices refer to, and the state that members agree on. Values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hiroba {

// The ranks first, first + step, ..., or those of the table, which the code that made it owns.
struct Team {
  int first = 0, step = 1, count = 0;
  const int* table = nullptr;

  bool contains(int member) const { return member >= 0 && member < count; }
  int rank(int member) const { return table != nullptr ? table[member] : first + member * step; }
  std::vector<int> ranks() const {
    std::vector<int> out;
    for (int m = 0; m < count; ++m) out.push_back(rank(m));
    return out;
  }
  // Returns the index of a rank; -1 if it is no member.
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
  // These ranks, in their order; consecutive ones need no table. They must exist as long as the team.
  static Team of(std::span<const int> ranks) {
    const auto count = static_cast<int>(ranks.size());
    for (int i = 1; i < count; ++i)
      if (ranks[i] != ranks[i - 1] + 1) return {ranks[0], 1, count, ranks.data()};
    return {count == 0 ? 0 : ranks[0], 1, count, nullptr};
  }
  // Equal teams have equal names; different teams rarely do.
  uint64_t name() const {
    uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    for (int i = 0; i < count; ++i) hash = (hash ^ static_cast<uint32_t>(rank(i))) * 0x100000001b3;
    return hash;
  }
};

// A team that its members have made together.
struct Members {
  Team team;
  std::vector<int> table;           // the team's table, if it needs one
  int me = 0;                       // this rank's index
  int lane = -1;                    // for small exchanges (lanes.hpp); -1: none
  uint32_t calls = 0;               // in the lane
  uint32_t compared = 0;            // names of all members are compared up to this call
  std::vector<const char*> blocks;  // of the blocking call under way in the lane
};

// Words that ranks join at a barrier: `into` with `other`, of equal length. Empty words are not joined.
using Words = std::vector<uint32_t>;
using Join = void (*)(Words& into, std::span<const uint32_t> other);

// Consecutive operations of one team, on which its ranks have agreed at once.
struct Sequence {
  Team team;
  int me;  // this rank's index in it
  uint64_t name, number;
  uint64_t digest;          // of all calls for the team up to this one, for comparison
  const char* what;         // name of this operation; outlives it
  int lane = -1;            // the members' lane, if known here, and the number of calls
  uint32_t lane_calls = 0;  // this rank had begun in it
};

}  // namespace hiroba
