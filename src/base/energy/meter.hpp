// Reads the sources of energy of this machine at intervals, and adds up those that cover it without counting anything
// twice. For one thread at a time; sample() may block as the sources do.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/energy/sum.hpp"

namespace hiroba {

class EnergyMeter {
 public:
  struct Reader {
    std::unique_ptr<EnergySource> source;
    EnergySum sum;
    double next = 0;              // when it is read again
    std::string why_not;          // not empty: its energy is not known
    std::string why_not_counted;  // not empty: it is no summand of the machine's energy
  };

  // Finds the sources, and decides which are summands.
  void open(const EnergyPlaces& places);
  void open(EnergySources sources);

  // Reads the sources of which an update is due: at `now`, in seconds. `at_once`: all but slow ones that were read.
  void sample(double now, bool at_once = false);
  // The sums begin again.
  void reset();

  // The machine's energy from the first sample until now; not known if a summand is not, or there is none.
  struct Total {
    double value = 0;
    std::string why_unknown;
  };
  Total joules(double now) const;
  Total joules_of(const std::string& device, double now) const;  // of one device, by its address
  // The machine's mean watts; not known either if a counter has changed less than twice.
  Total watts() const;
  // "package-0, package-0/dram; without gpu-0: no permission: ..."
  std::string summands() const;
  std::string unchanged() const;  // summands whose counters have not changed since the first sample
  bool any() const;               // true if there are summands
  const std::vector<Reader>& readers() const { return readers_; }
  const std::vector<std::string>& absent() const { return absent_; }

  // A line for each source and each way without one, and one for the machine.
  std::string describe(double seconds) const;

 private:
  void choose();
  std::string why_none() const;

  std::vector<Reader> readers_;
  std::vector<std::string> absent_;
  double cost_ = 0;  // seconds in sample()
  int samples_ = 0;  // that read a source
};

// Reads all sources for about this long, and describes each: watts, update period, or why there are none.
std::string describe_power(const EnergyPlaces& places, double seconds);

}  // namespace hiroba
