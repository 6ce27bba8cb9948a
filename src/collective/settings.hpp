// How collective operations are done: from the options of the job, equal on all ranks. Values.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.hpp"
#include "base/thread.hpp"

namespace hiroba {

// Which algorithm serves which size and number of ranks; `hiroba tune` measures them on a machine. The defaults were
// measured (docs/measurements.md).
struct Tuning {
  size_t lane_copied = size_t{8} << 10;     // most bytes that a rank gives by a lane, to be copied
  size_t lane_combined = size_t{32} << 10;  // or combined; at most Lanes::most_bytes
  size_t sliced = (size_t{32} << 10) + 1;   // from here on each member combines a slice, not every member everything
  size_t tree_ranks = 9;                    // from here on members give small data along a tree

  // A file of lines "NAME BYTES"; lines that begin with # are comments. Nothing is read without a name.
  static Status read(const std::string& file, Tuning& out);
};

struct Settings {
  Tuning tuning;
  Placement progress;         // option progress
  bool measure = false;       // option stats
  bool reproducible = false;  // option reproducible
  bool explain = false;       // option explain-collectives
  std::string uses;           // option trace-collectives
};

}  // namespace hiroba
