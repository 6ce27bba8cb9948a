// What changes when pages of an array get other homes. Pure arithmetic.
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

// Where two lists of runs that cover the same pages name other ranks; in order. None goes past a run of either list.
std::vector<HomeChange> home_changes(std::span<const HomeRun> before, std::span<const HomeRun> after);

// The runs of `a` that are not in `b` exactly so; both in order.
std::vector<HomeRun> runs_only_in(std::span<const HomeRun> a, std::span<const HomeRun> b);

// The homes after these moves, which are in order, disjoint, and inside what the homes cover; `from` is not looked at.
std::vector<HomeRun> with_moves(std::span<const HomeRun> homes, std::span<const HomeChange> moves);

}  // namespace hiroba
