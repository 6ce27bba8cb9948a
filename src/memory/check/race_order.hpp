// Decides whether anything within an epoch orders two accesses of different ranks: a lock that one rank has released
// before the other has taken it, whichever rank has held it in between, or synchronisations whose order is not known.
// The ticket numbers of a lock give the order of its holders, so a lock carries no data for this. For a word that ranks
// change and look at, the clock of the machine does: a change may order what follows each later look.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "memory/check/access_log.hpp"

namespace hiroba {

class RaceOrder {
 public:
  RaceOrder(const AccessLog& log, int nranks);

  // Returns true if this segment of rank a comes before that one of rank b; then it also comes before all later ones,
  // and so do all that are earlier than it. Where the order is not known, each comes before the other.
  bool before(int rank_a, uint32_t segment_a, int rank_b, uint32_t segment_b);

 private:
  using Reach = std::vector<uint32_t>;  // per rank, the first segment that comes after
  const Reach& after(int rank, uint32_t segment);
  // Follows the events from `reach` on, of which those from `followed` on have been followed before.
  void follow(Reach& reach, Reach& followed) const;
  // Returns the first event of `rank` that may come after this one of another rank; UINT32_MAX if none.
  uint32_t first_after(int rank, const SyncEvent& event) const;

  const AccessLog& log_;
  int nranks_;
  std::vector<std::vector<Reach>> after_;  // per rank, of its last segments: the last one first
  bool unknown_ = false;                   // a rank had more events than its log holds
  struct Turn {
    uint64_t ticket;
    uint32_t event;
  };
  std::vector<std::map<uint32_t, std::vector<Turn>>> turns_;  // per rank and lock, its acquisitions
  std::vector<uint32_t> first_any_;                           // per rank, its first event of unknown order
  std::vector<uint32_t> first_open_;                          // or of a word
};

}  // namespace hiroba
