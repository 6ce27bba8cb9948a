// Sorts the elements of one aligned array of one dimension into another. Collective: all members of the exchange's team
// call it. Blocks.
#pragma once

#include "template/elements.hpp"

namespace hiroba {

// True if elements of that type can be sorted.
bool has_order(Type type);
// `down`: the greatest first. Values that are no numbers (NaN) come after all others, `down` before them.
Status sort_elements(ElementExchange& elements, Type type, const AlignedPart& from, const AlignedPart& to, bool down);

}  // namespace hiroba
