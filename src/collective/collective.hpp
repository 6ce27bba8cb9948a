// The contract of this floor: what the ranks of a job, or of a team, do together: barriers, split barriers, gather,
// reduction, broadcast, and all other collective operations.
//
// A Collective object is one rank's part; Memory owns it, because barriers are where memory becomes consistent. It lies
// below memory: it needs the transport, and of each rank some scratch memory in the address range, nothing of arrays.
// Its parts say who may call what, and what blocks. Data is combined in the order of ranks, so all get the same bits.
#pragma once

#include <memory>

#include "base/shown.hpp"
#include "collective/barriers/arrivals.hpp"
#include "collective/barriers/barriers.hpp"
#include "collective/barriers/ticket_lock.hpp"
#include "collective/operations/planned_operations.hpp"
#include "collective/operations/requests.hpp"
#include "collective/operations/team_operations.hpp"
#include "collective/settings.hpp"
#include "collective/world.hpp"

namespace hiroba {

class Collective {
 public:
  Collective();
  ~Collective();

  // Of each rank: its arrivals, its lanes, its staging.
  static constexpr uint64_t arrivals_bytes = 4096, scratch_bytes = uint64_t{128} << 20;
  void listen(Transport& transport);  // before the transport starts
  // Once it has. What the caller leaves out of `world` is filled in here. `scratch`: offset of rank 0's scratch_bytes;
  // `stride`: from one rank's to the next; `settings` are those of the job.
  void start(const World& world, uint64_t scratch, uint64_t stride, const Settings& settings);
  // Before the transport stops.
  Status stop();
  // Carries on what was started; for threads that wait in the transport.
  static bool meantime(void* self);

  const World& world() const;
  Barriers& barriers() const;
  Arrivals& arrivals() const;
  TeamOperations& teams() const;
  [[HIROBA_SHOWN]] PlannedOperations& planned() const;
  [[HIROBA_SHOWN]] Requests& requests() const;

 private:
  std::unique_ptr<CollectiveParts> parts_;
};

}  // namespace hiroba
