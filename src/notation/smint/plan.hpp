// The accesses of a smint_plan.
#pragma once

#include <cstdint>
#include <cstring>

#include "smint.h"

namespace hiroba {

// visit(const smint_access&) for `count` accesses of a plan, with the values that are known now.
template <typename Visit>
void visit_accesses(const smint_plan& plan, int first, int count, const int64_t known[], Visit visit) {
  const smint_patch* patch = plan.patches;
  const smint_patch* const end = patch + plan.patch_count;
  while (patch != end && patch->access < first) ++patch;
  for (int i = first; i < first + count; ++i) {
    if (patch == end || patch->access != i) {
      visit(plan.accesses[i]);
      continue;
    }
    smint_access access = plan.accesses[i];
    for (; patch != end && patch->access == i; ++patch)
      std::memcpy(reinterpret_cast<char*>(&access) + 8 * patch->word, &known[patch->value], 8);
    visit(access);
  }
}

}  // namespace hiroba
