// Collective operations as exchanges of blocks: which member gives what to whom. Pure functions; arguments as in MPI,
// with bytes in the place of counts and types, and indices of members in the place of ranks. Members call them alike.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/shown.hpp"
#include "collective/operators/combine.hpp"
#include "collective/settings.hpp"

namespace hiroba {

// What each member has at an offset of its own: counts and displacements, in bytes.
struct BlockTable {
  std::vector<size_t> bytes, at;
  [[HIROBA_SHOWN]] static BlockTable one_after_another(std::span<const size_t> bytes);
};

// This rank's memory for the blocks of all members.
struct Blocks {
  char* base = nullptr;
  size_t bytes = 0, stride = 0;             // of each member, or
  int only = -1, also = -1;                 // of these alone, or
  std::shared_ptr<const BlockTable> table;  // as it says, from base on

  size_t bytes_of(int member) const {
    if (table != nullptr) return table->bytes[static_cast<size_t>(member)];
    return only < 0 || member == only || member == also ? bytes : 0;
  }
  // Whether any member but that one has a block.
  bool any_but(int member, int members) const {
    for (int i = 0; i < members; ++i)
      if (i != member && bytes_of(i) > 0) return true;
    return false;
  }
  char* of(int member) const {
    return base + (table != nullptr ? table->at[static_cast<size_t>(member)] : static_cast<size_t>(member) * stride);
  }
};

struct Step {
  Blocks give, take;
  bool same = false;               // a member gives the same bytes to all that it gives any
  std::optional<Combine> combine;  // what is taken, into take.base, which may be where the own block is
  // Where all members give the same number of bytes, or one member alone: how many, together; else 0. And whether this
  // rank does, from give.base on.
  size_t whole = 0;
  bool gives = true;
};

struct Plan {
  static constexpr size_t most_phases = 24;
  std::vector<Step> phases;
  size_t bytes = 0;           // of a block, for those who count
  size_t room = 0;            // bytes of memory that the operation needs besides: where a base is null
  const char* way = nullptr;  // for option explain-collectives
  size_t copied = 0;  // bytes at give.base that others still read when they are overwritten, so it works on a copy

  void lend(char* memory) {
    for (Step& phase : phases)
      for (Blocks* blocks : {&phase.give, &phase.take})
        if (blocks->base == nullptr) blocks->base = memory;
  }
};

// Where a rank is in its team.
struct Member {
  int me, count;
  size_t sliced = Tuning().sliced;  // from here on, in bytes, each member combines a slice
  // With this number of members, or more, small data goes along a tree, in as many phases as their number has bits; and
  // what one member gives to all is cut into slices.
  size_t tree = std::numeric_limits<size_t>::max();
  bool exact = false;  // sums are rounded once, so the elements of all members meet in one place
  bool by_tree() const { return count > 1 && static_cast<size_t>(count) >= tree; }
};

Plan plan_barrier(Member m);
[[HIROBA_SHOWN]] Plan plan_bcast(Member m, int root, void* buffer, size_t bytes);
// In place at the root: send is null.
Plan plan_gather(Member m, int root, const void* send, void* recv, size_t bytes);
Plan plan_gatherv(Member m, int root, const void* send, size_t bytes, void* recv, const BlockTable& parts);
Plan plan_scatter(Member m, int root, const void* send, void* recv, size_t bytes);
Plan plan_scatterv(Member m, int root, const void* send, const BlockTable& parts, void* recv, size_t bytes);
Plan plan_allgather(Member m, const void* send, void* recv, size_t bytes);
Plan plan_allgatherv(Member m, const void* send, size_t bytes, void* recv, const BlockTable& parts);
[[HIROBA_SHOWN]] Plan plan_alltoall(Member m, const void* send, void* recv, size_t bytes);
[[HIROBA_SHOWN]] Plan plan_alltoallv(const void* send, const BlockTable& gives, void* recv, const BlockTable& takes);
// `count` elements.
[[HIROBA_SHOWN]] Plan plan_allreduce(Member m, const void* send, void* recv, size_t count, const Combine& combine);
Plan plan_reduce(Member m, int root, const void* send, void* recv, size_t count, const Combine& combine);
Plan plan_scan(Member m, const void* send, void* recv, size_t count, const Combine& combine, bool exclusive);
// Member i gets counts[i] elements of the result.
Plan plan_reduce_scatter(Member m, const void* send, void* recv, std::span<const size_t> counts,
                         const Combine& combine);
// Block k goes to the member to[k]; block k comes from from[k]. Between two members they keep their order.
Plan plan_neighbours(Member m, const void* send, std::span<const int> to, void* recv, std::span<const int> from,
                     size_t bytes);

}  // namespace hiroba
