// A team: an ordered set of ranks, which indices of members count in.
#pragma once

#include <cstdint>

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

}  // namespace hiroba
