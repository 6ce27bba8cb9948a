// Who does which iterations of a loop that all ranks share: plain arithmetic on its affine accesses, the same on all
// ranks, for any of them. Nothing here blocks or has state.
//
// Ownership: of the dimensions of an array that are divided, those that the shared variables index decide. Their
// pieces are intervals of the variables; the first reaches to minus infinity and the last to infinity, so that every
// iteration has an owner, whatever its subscripts. Ranks that own the same intervals (because other dimensions are
// divided, too) cut the outermost into equal parts. Without such an array the iterations are cut into equal parts.
#pragma once

#include <array>
#include <span>

#include "loops/view.hpp"

namespace hiroba {

constexpr int64_t far = INT64_MAX / 4;

constexpr int most_shared = 3;

// A rank's values of each shared variable, ascending.
using Share = std::array<Interval, most_shared>;

Share share_of(const Job& job, int rank, std::span<const Access> accesses, std::span<const Values> values, int shared);

// What a dimension's subscript is, over all values of the loops, but without factor * v[but].
Interval offsets(const View& view, int d, std::span<const Values> values, size_t but = View::most_loops);

// The values of v for which factor * v + [offset] lies within `inside`; factor is not 0.
Interval values_within(Interval inside, Interval offset, int64_t factor);

}  // namespace hiroba
