// Energy that the machine has used, from its counters. A counter that cannot be read is a result with a reason, never
// zero joules.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace hiroba {

struct EnergyCounter {
  std::string name;     // such as "package-0", or "package-0/dram" for a part of it or its memory
  std::string file;     // holds microjoules
  uint64_t range = 0;   // the counter's largest value, after which it starts again at 0; 0: unknown
  std::string why_not;  // not empty: it cannot be read, for this reason
};

// Lists RAPL's counters that powercap shows below `root` ("/sys"); fails, with the reason, if there are none.
Status powercap_counters(const std::string& root, std::vector<EnergyCounter>& out);

Status read_counter(const EnergyCounter& counter, uint64_t& microjoules);

// The sum of what a counter has counted. The caller reads it more often than it can wrap around (`longest_gap`).
class EnergySum {
 public:
  explicit EnergySum(const EnergyCounter& counter) : name_(counter.name), range_(counter.range) {}
  // Takes a reading. Fails if the counter went backwards, or may have wrapped around more than once; then the sum is
  // of no use.
  Status add(uint64_t microjoules, double seconds);

  double joules() const { return static_cast<double>(total_) * 1e-6; }
  // The mean between the first and the last change that were seen, so that a counter with slow updates is not cut
  // in the middle of a period; 0 while fewer than two changes were seen.
  double watts() const;
  // The mean time between two changes; 0 while fewer than two were seen.
  double period() const;
  bool has_watts() const { return changes_ > 1; }
  // Seconds between two readings in which no package can use the energy of the whole range; 0: no limit is known.
  double longest_gap() const;

 private:
  std::string name_;
  uint64_t range_ = 0, last_ = 0, total_ = 0, total_at_first_change_ = 0, total_at_last_change_ = 0;
  double last_time_ = 0, first_change_ = 0, last_change_ = 0;
  int changes_ = -1;  // -1: nothing was read
};

// Reads all counters for about this long, and describes each: watts, update period, or why there are none.
Status describe_power(const std::string& root, double seconds, std::string& out);

}  // namespace hiroba
