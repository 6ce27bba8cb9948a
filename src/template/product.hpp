// The product of two aligned matrices: x = a b. Collective: all members of the team call it. Blocks.
//
// Each rank computes the elements of x that it owns, from the rows of a and the columns of b that belong to them, of
// which it fetches a panel at a time. So the sums have the order of the sequential loop.
#pragma once

#include "template/elements.hpp"

namespace hiroba {

// The sizes must fit, and the elements of all have that type.
Status multiply(TeamOperations& teams, const Team& team, int me, const Call& call, Type type, const AlignedPart& x,
                const AlignedPart& a, const AlignedPart& b);

}  // namespace hiroba
