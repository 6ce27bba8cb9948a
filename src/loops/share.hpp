// The iterations of each rank in a loop that all ranks share: arithmetic on its affine accesses, with the same result
// on all ranks, for any rank. Nothing here blocks or has state.
//
// Ownership: the divided dimensions of an array that the shared variables index determine it. Their pieces are
// intervals of the variables; the first extends to minus infinity and the last to infinity, so that every iteration has
// an owner, whatever its subscripts. Ranks that own the same intervals (because other dimensions are divided, too)
// divide the outermost into equal parts. Without such an array the iterations are divided into equal parts.
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

// The range of a dimension's subscript over all values of the loops, without factor * v[but].
Interval offsets(const View& view, int d, std::span<const Values> values, size_t but = View::most_loops);

// The values of v for which factor * v + [offset] lies within `inside`; factor is not 0.
Interval values_within(Interval inside, Interval offset, int64_t factor);

}  // namespace hiroba
