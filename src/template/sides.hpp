// One side of a transfer as the ranks of a team have it: a section of an aligned array, or of memory of each rank; who
// has which of its elements, and where.
//
// Elements are named by positions: in each dimension that has more than one of them, from 0 on. The other side has the
// same positions. Values; not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "collective/collective.hpp"
#include "template/layout.hpp"

namespace hiroba {

struct TransferSide {
  struct Dim {
    int64_t base = 0, step = 1, count = 1;  // indices
    int64_t stride = 0;                     // of memory, in bytes
  };
  const AlignedLayout* layout = nullptr;  // null: memory
  char* data = nullptr;                   // the first byte of this rank's memory of the array; of memory: of index 0
  std::vector<Dim> dims;
  std::vector<int> order = {};        // of its dimensions, the outermost first; empty: as they are
  std::span<char* const> parts = {};  // that of each member of the team; empty: this rank does not reach them
  bool common = false;                // memory: all members have the same bytes
};

// Elements in a rank's memory: the runs of each dimension, from `data` on.
struct Box {
  char* data;
  std::vector<std::vector<Run>> dims;
};
int64_t count_of(const Box& box);
// Adds a run to a list, in which runs that continue each other become one.
void append(std::vector<Run>& runs, const Run& run);

// Elements of two memories, in runs of equal counts.
struct PairedRuns {
  int64_t to, to_stride, from, from_stride, count;
};
// The same elements in the same order, which both sides may have in other runs.
std::vector<PairedRuns> paired(const std::vector<Run>& to, const std::vector<Run>& from);

// Consecutive positions, or indices.
struct OwnedRange {
  int64_t first, count;
};
// Returns true if a node with these coordinates has an index.
bool owns(const AlignedLayout& layout, int d, int64_t index, const std::vector<int>& at);
// The owner of an index has all from low to before high around it.
OwnedRange owned_around(const AlignedLayout& layout, int d, int64_t index);

class SideOfTeam {
 public:
  using Positions = std::vector<const std::vector<OwnedRange>*>;  // of each dimension

  SideOfTeam(const Team& team, int me, const TransferSide& side);

  bool is_memory() const { return side_.layout == nullptr; }
  int matched() const { return static_cast<int>(matched_.size()); }
  int64_t count(int k) const { return side_.dims[matched_[k]].count; }
  // Returns true if that member has elements in the dimensions that have one index.
  bool takes_part(int member) const;
  // Returns true if it has any elements.
  bool has_any(int member) const;
  // One of the nodes with copies gives to each taker: that with the taker's coordinates in its own set of nodes, else
  // the first of the first set.
  bool gives_to(int member, int taker) const;
  // The same if only some members give: that with the taker's coordinates if it does, else the first that does.
  bool gives_to(int member, int taker, const std::vector<bool>& may_give) const;
  // Returns the first member that may give what that member has; -1 if none may.
  int first_giver(int member, const std::vector<bool>& may_give) const;
  int coordinate(int k, int member) const;
  // The number of positions from one on that have the same owner, which `own` says is that coordinate or not.
  int64_t same_owner(int k, int64_t position, int coordinate, bool& own) const;
  // A member's box of the elements at these positions, each interval of which has one owner.
  Box box(const Positions& positions, int member) const;

 private:
  struct Memory {
    int64_t first, stride;
  };

  int set_for(int taker) const { return std::max(set_[taker], 0); }
  const Memory& memory(int d, int member) const;
  int64_t offset(int d, int64_t index, int member) const;

  const Team team_;
  const TransferSide& side_;
  std::vector<int> matched_, copies_;
  int me_;
  std::vector<std::vector<int>> at_;  // coordinates of each member
  std::vector<int> set_;              // of the grid, which has it; -1: none
  mutable std::vector<std::vector<Memory>> memory_;
};

// The positions that one member gives and the other takes, by dimension and by their coordinates.
class SharedPositions {
 public:
  SharedPositions(const SideOfTeam& source, const SideOfTeam& target) : source_(source), target_(target) {}
  SideOfTeam::Positions of(int giver, int taker);

 private:
  const SideOfTeam &source_, &target_;
  std::map<std::tuple<int, int, int>, std::vector<OwnedRange>> lists_;
};

}  // namespace hiroba
