// Operations of coarrays, loops and sms in teams that are not made together: any set of ranks that all of them know.
//
// Owner: Collective. One thread of each rank of a team makes its calls, all in one order with equal names; unequal
// calls end in a status that names both. All calls block, except those that start operations.
#pragma once

#include <span>
#include <vector>

#include "collective/operations/started.hpp"
#include "collective/operators/combine.hpp"
#include "collective/team.hpp"
#include "collective/world.hpp"

namespace hiroba {

class TeamOperations {
 public:
  explicit TeamOperations(CollectiveParts& parts) : parts_(parts) {}
  Status barrier(const Team& team, const Call& call);
  // Also joins the words of all. The names of the calls may differ.
  Status barrier(const Team& team, const Call& call, Words& words, Join join);
  // Works in place.
  Status reduce(const Team& team, char* data, int64_t count, const Combine& combine, const Call& call);
  // Copies from the member `root`.
  Status broadcast(const Team& team, int root, char* data, size_t bytes, const Call& call);
  // Gathers from all ranks: all[r] is the data of rank r.
  Status gather(const char* call, std::span<const char> mine, std::vector<std::vector<char>>& all);

  // All ranks of the team agree on the number of operations that follow.
  Sequence begin_sequence(const Team& team, uint64_t operations, const Call& call);
  // Starts the `which`-th operation of a sequence.
  Status start_barrier(const Sequence& sequence, int which, const Words& words, Join join, Started& out);
  // Work on copies of the data.
  Status start_reduce(const Team& team, const char* data, int64_t count, const Combine& combine, const char* what,
                      Started& out);
  Status start_broadcast(const Team& team, int root, const char* data, size_t bytes, const char* what, Started& out);

 private:
  Started begin_barrier(const Sequence& sequence, int which, const Words& words, Join join);
  Started begin_reduce(const Team& team, const char* data, int64_t count, const Combine& combine, const char* what);
  Started begin_broadcast(const Team& team, int root, const char* data, size_t bytes, const char* what);
  Status reduce_word(char* data, const Combine& combine, const Call& call);

  CollectiveParts& parts_;
};

}  // namespace hiroba
