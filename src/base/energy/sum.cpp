#include "base/energy/sum.hpp"

#include <cmath>

namespace hiroba {

namespace {

// No package uses as much. A decrease that would mean more is no wrap-around.
constexpr double most_watts = 2000;

}  // namespace

Status EnergySum::add(uint64_t value, double seconds) {
  const double gap = seconds - last_time_;
  const uint64_t before = last_;
  last_ = value;
  last_time_ = seconds;
  if (changes_ < 0) {
    changes_ = 0;
    first_time_ = last_change_ = seconds;
    return {};
  }
  if (integrated_) total_ += static_cast<uint64_t>(std::llround((static_cast<double>(before + value) / 2) * gap));
  else HIROBA_TRY(add_count(value, gap, before));
  if (value == before) return {};
  if (changes_++ == 0) {
    first_change_ = seconds;
    total_at_first_change_ = total_;
  }
  last_change_ = seconds;
  total_at_last_change_ = total_;
  return {};
}

Status EnergySum::add_count(uint64_t microjoules, double gap, uint64_t before) {
  if (range_ > 0 && gap >= longest_gap())
    return Status::error(
        "not readable: %s was not read for %.1f s, and may have wrapped around more than once: read it every %.1f s",
        name_.c_str(), gap, longest_gap());
  if (microjoules == before) return {};
  // The counter takes the values 0 to range. It may have many readings without a change, if its updates are slow, and
  // its last update may be up to a second older than the first reading.
  const bool wrapped = microjoules < before;
  const uint64_t step = wrapped ? range_ - before + 1 + microjoules : microjoules - before;
  if (wrapped && (range_ == 0 || before > range_ ||
                  static_cast<double>(step) * 1e-6 > most_watts * (last_time_ - last_change_ + 1)))
    return Status::error(
        "counter went backwards: %s went backwards, from %lu to %lu uJ, which is no wrap-around at %lu uJ: its energy "
        "is unknown",
        name_.c_str(), before, microjoules, range_);
  total_ += step;
  return {};
}

double EnergySum::joules(double now) const {
  const bool goes_on = integrated_ && changes_ >= 0 && now > last_time_;
  return counted() + (goes_on ? static_cast<double>(last_) * 1e-6 * (now - last_time_) : 0);
}

double EnergySum::watts() const {
  if (!has_watts()) return 0;
  if (integrated_) return counted() / (last_time_ - first_time_);
  return static_cast<double>(total_at_last_change_ - total_at_first_change_) * 1e-6 / (last_change_ - first_change_);
}

double EnergySum::period() const { return changes_ > 1 ? (last_change_ - first_change_) / (changes_ - 1) : 0; }

double EnergySum::longest_gap() const { return integrated_ ? 0 : static_cast<double>(range_) * 1e-6 / most_watts; }

}  // namespace hiroba
