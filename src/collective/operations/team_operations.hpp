// Collective operations of a team: any set of ranks that all of them know (Team), or one that its members have made
// together (Members), which may have a lane. An operation on data is a plan (plans.hpp): a small one goes by the team's
// lane, all others are exchanges.
//
// Owner: Collective. One thread of each rank of a team makes its calls, all in one order with equal names; unequal
// calls end in a status that names both. All calls block, except those that start operations: waiting threads of this
// rank and its progress thread (option progress) advance these.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/shown.hpp"
#include "collective/operations/started.hpp"
#include "collective/plans/plans.hpp"
#include "collective/team.hpp"
#include "collective/world.hpp"

namespace hiroba {

class TeamOperations {
 public:
  explicit TeamOperations(CollectiveParts& parts) : parts_(parts) {}
  void start();

  // ---- teams ----
  Members& all() { return all_; }
  // The members of any team; `other` holds them if they are not all ranks.
  Members& members_of(const Team& team, Members& other);
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

  // ---- operations ----
  // Blocks. `call.name` contains all that must be equal on all ranks.
  [[HIROBA_SHOWN]] Status perform(Members& members, Plan plan, const Call& call);
  // Buffers must stay until the operation is done.
  [[HIROBA_SHOWN]] Status start(Members& members, Plan plan, const Call& call, Started& out);
  // Calls function(context) after `started` is done, in a thread that advances operations, or now.
  Status then(const Started& started, void (*function)(void*), void* context);
  // Works in place.
  Status reduce(const Team& team, char* data, int64_t count, const Combine& combine, const Call& call);
  // Copies from the member `root`.
  Status broadcast(const Team& team, int root, char* data, size_t bytes, const Call& call);
  // Gathers from all ranks: all[r] is the data of rank r.
  Status gather(const char* call, std::span<const char> mine, std::vector<std::vector<char>>& all);

  // ---- barriers ----
  Status barrier(const Team& team, const Call& call);
  // Also joins the words of all. The names of the calls may differ.
  Status barrier(const Team& team, const Call& call, Words& words, Join join);
  // All ranks of the team agree on the number of barriers that follow.
  Sequence begin_sequence(const Team& team, uint64_t barriers, const Call& call);
  // Starts the `which`-th barrier of a sequence.
  Status start_barrier(const Sequence& sequence, int which, const Words& words, Join join, Started& out);

 private:
  bool goes_by_lane(const Members& members, Plan& plan) const;
  Started begin_exchange(const Members& members, Plan plan, const Call& call);
  Started begin_barrier(const Sequence& sequence, int which, const Words& words, Join join);
  Status reduce_word(char* data, Combine combine, const Call& call);
  Status agree_on_lane(Members& parent, Members& members, const Call& call);

  CollectiveParts& parts_;
  Members all_;
};

}  // namespace hiroba
