// Part of the contract of this floor: this rank's record for options report and stats, from its begin to its end
// (docs/report.md).
//
// Owner: Memory. For the thread that makes collective calls.
#pragma once

#include <string>

#include "base/status.hpp"

namespace hiroba {

struct Array;
struct MemoryParts;

class RunReport {
 public:
  explicit RunReport(MemoryParts& parts) : parts_(parts) {}

  // `file`: of option report; "": none.
  void begin(const std::string& file);
  void array_ends(Array& array) const;  // it is being freed
  // Completes the record, also if the program exits before its end. Nothing without these options.
  void seal() const;
  // Rank 0 writes the report of all ranks, if there is a file and no launcher reads their records. Collective.
  Status write(const char* call) const;
  // Sets `out` to lines of text, in rank 0: which arrays have moved, and which would gain from other homes. Requires a
  // sealed record. Collective.
  Status explain_placement(const char* call, std::string& out) const;

 private:
  MemoryParts& parts_;
  std::string file_;
};

}  // namespace hiroba
