// The sum of what a source of energy has counted, over wrap-arounds and slow updates. For one thread at a time.
#pragma once

#include <cstdint>
#include <string>

#include "base/energy/source.hpp"

namespace hiroba {

// The caller reads a counter more often than it can wrap around (`longest_gap`).
class EnergySum {
 public:
  explicit EnergySum(const EnergyAbout& about)
      : name_(about.name), range_(about.range), integrated_(about.integrated) {}
  // Takes a reading. Fails if the counter went backwards, or may have wrapped around more than once; then the sum is
  // of no use.
  Status add(uint64_t value, double seconds);

  // Between two readings the power of an integrated source is their mean, and after the last one it stays.
  double joules(double now) const;
  // The mean between the first and the last change that were seen, so that a counter with slow updates is not cut
  // in the middle of a period; 0 while fewer than two changes were seen. Of an integrated source over all readings.
  double watts() const;
  // The mean time between two changes; 0 while fewer than two were seen.
  double period() const;
  bool changed() const { return integrated_ ? changes_ >= 0 : changes_ > 0; }
  bool has_watts() const { return integrated_ ? last_time_ > first_time_ : changes_ > 1; }
  // Seconds between two readings in which no package can use the energy of the whole range; 0: no limit is known.
  double longest_gap() const;

 private:
  double counted() const { return static_cast<double>(total_) * 1e-6; }
  Status add_count(uint64_t microjoules, double gap, uint64_t before);

  std::string name_;
  uint64_t range_ = 0, last_ = 0, total_ = 0, total_at_first_change_ = 0, total_at_last_change_ = 0;
  double first_time_ = 0, last_time_ = 0, first_change_ = 0, last_change_ = 0;
  int changes_ = -1;  // -1: nothing was read
  bool integrated_;
};

}  // namespace hiroba
