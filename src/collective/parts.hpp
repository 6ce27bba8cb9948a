// The parts of Collective, for the files that implement it. Owner: Collective; each part says what is thread-safe.
#pragma once

#include <memory>

#include "collective/barriers/joined_barrier.hpp"
#include "collective/collective.hpp"
#include "collective/plans/exchange.hpp"
#include "collective/plans/lanes.hpp"
#include "collective/plans/one_report.hpp"
#include "collective/plans/parcels.hpp"
#include "collective/plans/progress.hpp"
#include "collective/plans/questions.hpp"

namespace hiroba {

struct CollectiveParts {
  World world;
  Settings settings;
  Operations operations;  // destroyed last: requests own some
  Requests requests;
  Parcels parcels;
  JoinedBarrier joined_barrier;
  Exchange exchange;
  Lanes lanes;
  ProgressThread progress;
  Barriers barriers;
  Arrivals arrivals;
  Questions questions;
  OneReport report;
  TeamOperations teams{*this};
  CallLog log;
  std::shared_ptr<void> token = std::make_shared<char>();

  RunningPtr make(const Sequence& sequence);
  // Starts the operation that begin_operation() makes.
  template <typename Begin>
  Started begin(const RunningPtr& running, const Begin& begin_operation) {
    running->operations[0].emplace(operations.start(begin_operation));
    return Started(running);
  }
  // Wakes the progress thread if that helps.
  Status carry_on(const Started& started, const Team& team);
  Status finish(const Started& started, const Call& call) const;
  // Checks before the next operation that no parcel is left without an operation. Such a parcel was for an operation
  // that this rank was not in, or for a started one whose other ranks have not arrived.
  Status none_left(const Team& team, const Call& call);
};

}  // namespace hiroba
