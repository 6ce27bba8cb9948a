// Settings of collective operations: options of the job, equal on all ranks. Values.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.hpp"
#include "base/thread.hpp"

namespace hiroba {

// The limits of size and number of ranks that select algorithms; `hiroba tune` measures them on a machine. The defaults
// were measured (docs/measurements.md).
struct Tuning {
  size_t lane_copied = size_t{8} << 10;     // maximum bytes that a rank gives by a lane, to be copied
  size_t lane_combined = size_t{32} << 10;  // the same if combined; at most Lanes::most_bytes
  size_t sliced = (size_t{32} << 10) + 1;   // from this many bytes on, each member combines a slice, not all data
  size_t tree_ranks = 9;                    // from this many ranks on, members give small data along a tree

  // Reads lines "NAME BYTES" from a file; lines that begin with # are comments. Reads nothing without a name.
  static Status read(const std::string& file, Tuning& out);
};

struct Settings {
  Tuning tuning;
  Placement progress;         // option progress
  bool measure = false;       // options stats and report
  bool reproducible = false;  // option reproducible
};

}  // namespace hiroba
