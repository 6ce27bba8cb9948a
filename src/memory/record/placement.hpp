// The placement of arrays as option stats prints it: the pages that have moved to the ranks that write them, and those
// that would gain from that. Values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/record/record.hpp"

namespace hiroba {

// Counts of an array in the record of a rank, or of all ranks.
struct ArrayPlacement {
  char name[sizeof ArrayRecord::name];
  uint64_t pages;  // of the array
  uint64_t alone, sent, moved, moved_again, kept;
  int32_t policy;
};

// Returns those of which there is something to say.
std::vector<ArrayPlacement> placements_of(const RunRecord& record);
// `all`: the bytes of what each rank has; `most_runs`: of pages that may lie elsewhere than arrays are distributed.
// Returns lines of text.
std::string describe_placements(const std::vector<std::vector<char>>& all, size_t most_runs);

}  // namespace hiroba
