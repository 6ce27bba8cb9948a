// The contract of this floor: the energy of a job, by what it was spent on. docs/power.md says how the energy of a
// machine is attributed to ranks and regions.
//
// A Power object is one rank's part; its notation owns it. Without option power nothing runs, and calls return at once.
// begin() and end() are for any thread; they read the counters of the machine, and take as long as that. A thread of
// this floor samples.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/energy/source.hpp"
#include "base/job.hpp"
#include "base/status.hpp"
#include "collective/collective.hpp"

namespace hiroba {

struct PowerParts;

class Power {
 public:
  struct Settings {
    bool on = false;
    EnergyPlaces places;
    double period = 0.02;  // seconds between two samples
    double idle = -1;      // watts of a machine that does nothing; negative: they are measured at the start

    static Status from_options(const Options& options, Settings& out);
  };
  struct Surroundings {
    Job job;
    Board* board = nullptr;
    Collective* collective = nullptr;
    int threads = 1;                            // that run tasks
    std::function<const char*(int)> task = {};  // the name of the task that a thread runs; null: none
  };
  // This rank's share of the machine's energy in a time: an equal part for each rank there.
  struct Region {
    double seconds = 0, joules = 0;
    double above_idle = 0;    // joules, without those of an idle machine
    int ranks = 1;            // that share the machine
    std::string why_unknown;  // not empty: the joules are not known
  };

  Power();
  ~Power();
  Status start(const Settings& settings, const Surroundings& around);  // collective, if on
  bool on() const;

  static constexpr size_t longest_name = 63, most_regions = 1000;
  Status begin(const char* name, const char* place);
  Status end(const char* name, Region& out);

  // The joules of a device since the start, which it has at this address of PCI; "": of the machine. Fails, with the
  // reason, if they are not known; then `out` is not a number.
  Status device(const std::string& address, double& out);

  // Ends the sampling, and returns the table of all ranks, on rank 0. Collective, if on.
  Status finish(const char* call, std::string& table);
  // Writes what is known so far into this rank's record (option report).
  void note() const;
  // Returns this rank's line for option stats.
  std::string describe() const;

 private:
  std::unique_ptr<PowerParts> parts_;
};

}  // namespace hiroba
