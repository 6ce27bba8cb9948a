// The thread of a rank that samples: the first rank of a node reads the sources of energy and publishes their sum on
// the board, and each rank notes what it does at that moment, and takes its share of the sum.
//
// Owner: Power. start(), run() and stop() are for one thread, the others for any.
#pragma once

#include <pthread.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/energy/meter.hpp"
#include "power/accounts.hpp"
#include "power/power.hpp"

namespace hiroba {

class PowerSampler {
 public:
  ~PowerSampler() { stop(); }
  // The first rank of a node finds the sources here, the others when they first read.
  void start(const Power::Settings& settings, const Power::Surroundings& around);
  // Watts of this machine while the caller sleeps; 0: not known.
  double idle_watts(double seconds);
  // Counts from now on. `ranks`: that share the machine.
  Status run(int ranks);
  void stop();

  // Reads the sources; returns the joules of this machine so far, and when that was.
  EnergyMeter::Total read(double& now);
  EnergyMeter::Total read(double& now, const std::string& device);  // by its address; "": of this machine
  // Adds a region of the program.
  void note(const std::string& name, double seconds, double joules);

  std::map<std::string, PowerAccount> accounts() const;
  // Returns the joules of the machine, and the seconds since run().
  EnergyMeter::Total total(double& seconds) const;
  double cost() const { return ticks_ == 0 ? 0 : cpu_seconds_ / ticks_; }  // seconds of a core for a sample
  std::string summands() const { return meter_.summands(); }
  bool any() const { return meter_.any(); }

 private:
  static void* main(void* self);
  void open();
  void tick();
  void note_state(double seconds);
  std::string state() const;
  void note_energy(double now, double joules);

  Power::Settings settings_;
  Power::Surroundings around_;
  int ranks_ = 1;
  RankBoard* leader_ = nullptr;  // of this node
  bool leads_ = false, opened_ = false, running_ = false;
  mutable std::mutex guard_;  // of what follows, up to the thread
  EnergyMeter meter_;
  PowerAccounts accounts_;
  double began_ = 0, last_time_ = 0, last_joules_ = 0;
  double point_time_ = 0, point_joules_ = 0;
  long ticks_ = 0;
  double cpu_seconds_ = 0;
  std::atomic<uint32_t> stopping_{0};
  pthread_t thread_{};
};

}  // namespace hiroba
