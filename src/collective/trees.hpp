// Operations of a team along trees of parcels, for small data of many ranks, and barriers. As many steps as the number
// of ranks has bits. They are operations (operation.hpp).
#pragma once

#include "collective/exchange.hpp"

namespace hiroba {

class Trees {
 public:
  void start(Parcels& parcels) { parcels_ = &parcels; }
  // Joins the words of all.
  Operation barrier(RunningPtr running);
  // running->data holds what this rank has, and then the result.
  Operation reduce(RunningPtr running);
  Operation broadcast(RunningPtr running, int root);

 private:
  Parcels* parcels_ = nullptr;
};

}  // namespace hiroba
