// With option check: races between ranks. Each rank notes what its loops touch, as the exact sets of their affine
// accesses; at each barrier all ranks tell each other, and rank 0 names the pairs that meet, once each. Where
// subscripts are not known, the pages that a rank has fetched or written of other nodes stand for them, and the message
// says "perhaps". Order by locks and atomics is not seen, nor by waiting for some ranks only: with option check, every
// loop ends with a barrier of all.
//
// What is noted belongs to the process, until the next barrier. Used by the thread that calls barriers.
#pragma once

#include <span>

#include "notation/smint/view.hpp"

namespace hiroba {

// This rank touches what `view` of `access` says over all `values`.
void note_touch(const smint_access& access, View view, std::span<const smint_values> values, const char* place);

}  // namespace hiroba
