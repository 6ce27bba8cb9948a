#include "memory/sync/group_sync.hpp"

#include "memory/parts.hpp"
#include "memory/sync/coherence_time.hpp"

namespace hiroba {

bool GroupSync::splits() const { return parts_.collective.arrivals().reaches_all(); }

// A program that preloads all that it reads of other nodes may keep its copies in the view.
void GroupSync::release(const char* call) {
  const CoherenceTime time(parts_, call);
  if (!home_writes_) parts_.drop();
  else if (parts_.cache != nullptr) parts_.cache->writeback.mark_stale();
}

void GroupSync::arrive(const char* call, bool home_writes, Work done) {
  home_writes_ = home_writes;
  if (!splits()) return;
  const RaceChecker::Segment segment(parts_.races, SyncEvent::any);
  if (!parts_.collective.arrivals().arrived_with_part()) release(call);
  parts_.collective.arrivals().arrive(call, done);
}

bool GroupSync::arrived(std::span<const int> others, Work needed) const {
  return parts_.collective.arrivals().arrived(others, needed);
}

// No page is fetched ahead of a group barrier: a home may have left its own before others have put to it.
Status GroupSync::await(const char* call, std::span<const int> others, Work needed) {
  const RaceChecker::Segment segment(parts_.races, SyncEvent::any);
  if (splits()) return parts_.collective.arrivals().await(call, others, needed);
  release(call);
  return parts_.collective.barriers().some(call, others);
}

}  // namespace hiroba
