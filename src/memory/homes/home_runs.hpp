// Computes the changes when pages of an array get other homes. Pure arithmetic.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "memory/array.hpp"

namespace hiroba {

// Pages [first, first + pages) whose home moves.
struct HomeChange {
  uint64_t first, pages;
  int from, to;
  bool operator==(const HomeChange&) const = default;
};

// Returns the pages for which two lists of runs, which cover the same pages, have different ranks; in order. No result
// crosses the boundary of a run of either list.
std::vector<HomeChange> home_changes(std::span<const HomeRun> before, std::span<const HomeRun> after);

// Returns the runs of `a` that `b` does not contain identically; both in order.
std::vector<HomeRun> runs_only_in(std::span<const HomeRun> a, std::span<const HomeRun> b);

// Returns the homes after these moves, which are in order, disjoint, and inside `homes`; ignores `from`.
std::vector<HomeRun> with_moves(std::span<const HomeRun> homes, std::span<const HomeChange> moves);

}  // namespace hiroba
