// Collective operations given as plans (plans.hpp), in teams whose members have made them together.
//
// Owner: Collective. One thread of each rank of a team makes its calls, all in one order with equal names. Waiting
// threads of this rank and its progress thread (option progress) advance started operations.
#pragma once

#include <memory>

#include "base/shown.hpp"
#include "collective/operations/started.hpp"
#include "collective/plans/plans.hpp"
#include "collective/team.hpp"
#include "collective/world.hpp"

namespace hiroba {

class PlannedOperations {
 public:
  explicit PlannedOperations(CollectiveParts& parts) : parts_(parts) {}
  void start();
  Members& all() { return all_; }
  [[HIROBA_SHOWN]] Member member_of(const Members& members) const;
  // Makes a team of the members with the same colour, in the order of their keys; none for a negative colour. All
  // members of `members` call it.
  Status split(Members& members, int color, int key, std::unique_ptr<Members>& out, const Call& call);
  void release(Members& members);
  // Requires a barrier before it. Checks that all have made the same calls for the team, unless operations are under
  // way.
  Status agree(Members& members, const Call& call);
  // Runs the last barrier of all ranks, which also compares their joint calls.
  Status last_barrier(const char* call, uint64_t tag);
  // Blocks. `call.name` contains all that must be equal on all ranks.
  [[HIROBA_SHOWN]] Status perform(Members& members, Plan plan, const Call& call);
  // Buffers must stay until the operation is done.
  [[HIROBA_SHOWN]] Status start(Members& members, Plan plan, const Call& call, Started& out);
  // Calls function(context) after `started` is done, in a thread that advances operations, or now.
  Status then(const Started& started, void (*function)(void*), void* context);
  // From the first end_progress() on, started operations advance only between these two calls.
  void begin_progress();
  void end_progress();

 private:
  void settle(Plan& plan) const;
  Sequence begin_sequence(const Members& members, const Call& call);
  Status perform_now(Members& members, Plan plan, const Call& call);
  Status agree_on_lane(Members& parent, Members& members, const Call& call);

  CollectiveParts& parts_;
  Members all_;
};

}  // namespace hiroba
