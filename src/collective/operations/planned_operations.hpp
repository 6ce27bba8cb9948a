// Any collective operation, as a plan (plans.hpp), in teams whose members have made them together.
//
// Owner: Collective. Calls for a team are made by one thread of each of its ranks, all in one order with equal names.
// What was started is carried on by threads of this rank that wait, and by its progress thread (option progress).
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
  // The team of all ranks.
  Members& all() { return all_; }
  [[HIROBA_SHOWN]] Member member_of(const Members& members) const;
  // Members with the same colour become a team, in the order of their keys; none with a negative colour. All members of
  // `members` call it.
  Status split(Members& members, int color, int key, std::unique_ptr<Members>& out, const Call& call);
  void release(Members& members);
  // After a barrier: that all have made the same calls for the team, where nothing is under way.
  Status agree(Members& members, const Call& call);
  // The last barrier of all ranks, in which they also compare what they have called together.
  Status last_barrier(const char* call, uint64_t tag);
  // Blocks. `call.name` says what all must have in common.
  [[HIROBA_SHOWN]] Status perform(Members& members, Plan plan, const Call& call);
  // Buffers must stay until it is done.
  [[HIROBA_SHOWN]] Status start(Members& members, Plan plan, const Call& call, Started& out);
  // Calls function(context) after it is done, in a thread that carries operations on, or now.
  Status then(const Started& started, void (*function)(void*), void* context);
  // What was started is carried on between them only, from the first end on.
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
