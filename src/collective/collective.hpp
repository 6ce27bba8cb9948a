// The contract of this floor: the joint operations of a job's or a team's ranks: barriers, split barriers, gather,
// reduction, broadcast, and all other collective operations.
//
// A Collective object is one rank's part; Memory owns it, because barriers make memory consistent. It is below memory:
// it needs the transport and some scratch memory of each rank in the address range, and no arrays. Each part says who
// may call it and which calls block. Data is combined in the order of ranks, so all ranks get the same bits.
#pragma once

#include <memory>

#include "base/shown.hpp"
#include "collective/barriers/arrivals.hpp"
#include "collective/barriers/barriers.hpp"
#include "collective/barriers/ticket_lock.hpp"
#include "collective/operations/requests.hpp"
#include "collective/operations/team_operations.hpp"
#include "collective/settings.hpp"
#include "collective/world.hpp"

namespace hiroba {

class Collective {
 public:
  Collective();
  ~Collective();

  // Each rank's scratch memory contains its arrivals, its lanes and its staging memory.
  static constexpr uint64_t arrivals_bytes = 4096, scratch_bytes = uint64_t{128} << 20;
  void listen(Transport& transport);  // before the transport starts
  // Requires a started transport. Fills in the fields that the caller leaves empty in `world`. `scratch`: offset of
  // rank 0's scratch_bytes; `stride`: distance between two ranks'; `settings`: those of the job.
  void start(const World& world, uint64_t scratch, uint64_t stride, const Settings& settings);
  // Requires that the transport has not stopped.
  Status stop();
  // Advances started operations; for threads that wait in the transport.
  static bool meantime(void* self);

  // From the first end_progress() on, started operations advance only between these two calls.
  void begin_progress();
  void end_progress();

  [[HIROBA_SHOWN]] const World& world() const;
  Barriers& barriers() const;
  Arrivals& arrivals() const;
  [[HIROBA_SHOWN]] TeamOperations& teams() const;
  [[HIROBA_SHOWN]] Requests& requests() const;

 private:
  std::unique_ptr<CollectiveParts> parts_;
};

}  // namespace hiroba
