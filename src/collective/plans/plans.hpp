// Collective operations as exchanges of blocks: the giver and taker of each block. Pure functions; arguments as in MPI,
// with bytes in place of counts and types, and indices of members in place of ranks. Members call them alike.
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

// Blocks at given offsets: MPI's counts and displacements, in bytes.
struct BlockTable {
  std::vector<size_t> bytes, at;
  [[HIROBA_SHOWN]] static BlockTable one_after_another(std::span<const size_t> bytes);
};

// This rank's memory for the blocks of all members.
struct Blocks {
  char* base = nullptr;
  size_t bytes = 0, stride = 0;             // for each member, or
  int only = -1, also = -1;                 // for these alone, or
  std::shared_ptr<const BlockTable> table;  // as the table says, from base on

  size_t bytes_of(int member) const {
    if (table != nullptr) return table->bytes[member];
    return only < 0 || member == only || member == also ? bytes : 0;
  }
  // Returns true if any member except that one has a block.
  bool any_but(int member, int members) const {
    for (int i = 0; i < members; ++i)
      if (i != member && bytes_of(i) > 0) return true;
    return false;
  }
  char* of(int member) const {
    return base + (table != nullptr ? table->at[member] : static_cast<size_t>(member) * stride);
  }
};

struct Step {
  Blocks give, take;
  bool same = false;               // a member gives the same bytes to all its takers
  std::optional<Combine> combine;  // combines the taken blocks into take.base, which may be the own block
  // The bytes of all blocks together, if all members give the same number of bytes, or one member alone does; else 0.
  // `gives`: true if this rank gives, from give.base on.
  size_t whole = 0;
  bool gives = true;
};

struct Plan {
  static constexpr size_t most_phases = 24;
  std::vector<Step> phases;
  size_t bytes = 0;           // of a block, for statistics
  size_t room = 0;            // bytes of additional memory that the operation needs, for null bases
  const char* way = nullptr;  // the algorithm, for the record; null: the blocks say
  size_t copied = 0;  // bytes at give.base that others still read when they are overwritten; the operation uses a copy

  void lend(char* memory) {
    for (Step& phase : phases)
      for (Blocks* blocks : {&phase.give, &phase.take})
        if (blocks->base == nullptr) blocks->base = memory;
  }
};

// A rank's index in its team, and the choice of algorithms.
struct Member {
  int me, count;
  size_t sliced = Tuning().sliced;  // from this many bytes on, each member combines a slice
  // Teams of this size or larger move small data along a tree, with one phase per bit of the size, and cut broadcast
  // data into slices.
  size_t tree = std::numeric_limits<size_t>::max();
  bool exact = false;  // sums are rounded once, so each sum needs the elements of all members at one place
  bool by_tree() const { return count > 1 && static_cast<size_t>(count) >= tree; }
};

Plan plan_barrier(Member m);
[[HIROBA_SHOWN]] Plan plan_bcast(Member m, int root, void* buffer, size_t bytes);
// These work in place at the root if send is null.
Plan plan_gather(Member m, int root, const void* send, void* recv, size_t bytes);
Plan plan_gatherv(Member m, int root, const void* send, size_t bytes, void* recv, const BlockTable& parts);
Plan plan_scatter(Member m, int root, const void* send, void* recv, size_t bytes);
Plan plan_scatterv(Member m, int root, const void* send, const BlockTable& parts, void* recv, size_t bytes);
Plan plan_allgather(Member m, const void* send, void* recv, size_t bytes);
Plan plan_allgatherv(Member m, const void* send, size_t bytes, void* recv, const BlockTable& parts);
[[HIROBA_SHOWN]] Plan plan_alltoall(Member m, const void* send, void* recv, size_t bytes);
[[HIROBA_SHOWN]] Plan plan_alltoallv(const void* send, const BlockTable& gives, void* recv, const BlockTable& takes);
// These combine `count` elements.
[[HIROBA_SHOWN]] Plan plan_allreduce(Member m, const void* send, void* recv, size_t count, const Combine& combine);
Plan plan_reduce(Member m, int root, const void* send, void* recv, size_t count, const Combine& combine);
Plan plan_scan(Member m, const void* send, void* recv, size_t count, const Combine& combine, bool exclusive);
// Member i gets counts[i] elements of the result.
Plan plan_reduce_scatter(Member m, const void* send, void* recv, std::span<const size_t> counts,
                         const Combine& combine);
// Block k goes to the member to[k]; block k comes from from[k]. Blocks between two members keep their order.
Plan plan_neighbours(Member m, const void* send, std::span<const int> to, void* recv, std::span<const int> from,
                     size_t bytes);

}  // namespace hiroba
