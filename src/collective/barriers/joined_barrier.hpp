// The barrier of a team that joins words of its members, by parcels, in as many rounds as the number of members has
// bits. It runs as an operation (operation.hpp).
#pragma once

#include "collective/plans/exchange.hpp"

namespace hiroba {

class JoinedBarrier {
 public:
  void start(Parcels& parcels) { parcels_ = &parcels; }
  Operation run(RunningPtr running);

 private:
  Parcels* parcels_ = nullptr;
};

}  // namespace hiroba
