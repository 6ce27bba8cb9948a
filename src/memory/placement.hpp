// Which ranks the pages of a new array live on, and where in a huge page it should begin. Pure arithmetic.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/array.hpp"

namespace hiroba {

// Of an array of `pages` pages, numbered from its first; its first element lies `gap` bytes after their beginning.
std::vector<HomeRun> home_runs(const Distribution& d, uint64_t pages, uint64_t gap);

// Where in a huge page an array should begin, in pages: where it would by turn, unless parts of few huge pages had a
// tenth more of them elsewhere.
uint64_t choose_start(const std::vector<HomeRun>& parts, uint64_t by_turn);

}  // namespace hiroba
