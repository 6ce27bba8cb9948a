// Whether something within an epoch orders two accesses of different ranks: a lock that the one has released before the
// other has taken it, whichever rank has held it in between, or synchronisations of which nothing more is known. The
// numbers that a lock gives out give the order of its holders, so nothing has to be carried with a lock.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "memory/check/access_log.hpp"

namespace hiroba {

class Order {
 public:
  Order(const AccessLog& log, int nranks);

  bool ordered(int rank_a, uint32_t segment_a, int rank_b, uint32_t segment_b);

 private:
  using Reach = std::vector<uint32_t>;  // per rank, the first segment that comes after
  const Reach& after(int rank, uint32_t segment);
  // The first event of `rank` that may come after this one of another rank; UINT32_MAX if none.
  uint32_t first_after(int rank, const SyncEvent& event) const;

  const AccessLog& log_;
  int nranks_;
  bool unknown_ = false;  // a rank had more events than it could note
  struct Turn {
    uint32_t ticket, event;
  };
  std::vector<std::map<uint32_t, std::vector<Turn>>> turns_;  // per rank and lock, when it was taken
  std::vector<uint32_t> first_any_;
  std::map<std::pair<int, uint32_t>, Reach> reaches_;
};

}  // namespace hiroba
