// Computes the homes of the pages of a new array, and its start within a huge page. Pure arithmetic.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/array.hpp"

namespace hiroba {

// Returns the homes of an array of `pages` pages, numbered from its first; its first element lies `gap` bytes after
// their beginning.
std::vector<HomeRun> home_runs(const Distribution& d, uint64_t pages, uint64_t gap);

// Returns the start of an array within a huge page, in pages: `by_turn`, unless another start gives parts of few huge
// pages a tenth more of them.
uint64_t choose_start(const std::vector<HomeRun>& parts, uint64_t by_turn);

}  // namespace hiroba
