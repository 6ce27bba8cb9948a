// The choice of the one rank that reports calls that differ, because ranks of several nodes may detect them at once:
// rank 0 grants it to the first that asks. Ranks that see each other on one board need no choice (log.hpp).
//
// Owner: Collective. claim() blocks; for the end of a job, in a thread that may drive the transport.
#pragma once

#include <atomic>

#include "collective/world.hpp"

namespace hiroba {

class OneReport {
 public:
  void listen(Transport& transport);
  void start(const World& world) { world_ = &world; }
  // Returns if this rank is the one, or after the time in which the launcher should have ended this rank.
  void claim();

 private:
  enum : int { unknown, granted, refused };
  // At rank 0: grants it to the first rank, and refuses it to all others, which may ask later.
  void decide(int rank);
  // Drives while this is the verdict, for at most these seconds.
  void drive_while(int verdict, double seconds) const;

  const World* world_ = nullptr;
  int on_claim_ = 0, on_verdict_ = 0;
  std::atomic<bool> given_{false};  // at rank 0
  std::atomic<int> verdict_{unknown};
};

}  // namespace hiroba
