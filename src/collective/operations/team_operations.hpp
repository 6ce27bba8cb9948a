// What coarrays, loops and sms do in teams that are not made together: any set of ranks that all of them know.
//
// Owner: Collective. Calls for a team are made by one thread of each of its ranks, all in one order with equal names;
// unequal calls end in a status that names both. They block, but those that start.
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
  // The same, whatever the program calls it; joins the words of all.
  Status barrier(const Team& team, const Call& call, Words& words, Join join);
  // In place.
  Status reduce(const Team& team, char* data, int64_t count, const Combine& combine, const Call& call);
  // From the member `root`.
  Status broadcast(const Team& team, int root, char* data, size_t bytes, const Call& call);
  // Of all ranks: all[r] is what rank r gave.
  Status gather(const char* call, std::span<const char> mine, std::vector<std::vector<char>>& all);

  // All ranks of the team agree on the number of operations that follow.
  Sequence begin_sequence(const Team& team, uint64_t operations, const Call& call);
  // The `which`-th of a sequence.
  Status start_barrier(const Sequence& sequence, int which, const Words& words, Join join, Started& out);
  // On copies.
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
