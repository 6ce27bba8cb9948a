#include "coarray/image_sync.hpp"

#include "base/record/record.hpp"
#include "coarray/parts.hpp"

namespace hiroba {

// A rank that calls this while it spins on its own memory also answers requests of others.
Status ImageSync::sync_memory(const Call& call) {
  HIROBA_TRY(parts_.updater.await_sent(call));
  unfenced_.store(false, std::memory_order_relaxed);
  if (!parts_.world->transport->fence()) parts_.world->transport->progress();
  return {};
}

// The fence is needed in addition to the barrier: a rank may leave the barrier while another still waits for puts in
// it, and later puts of the first would race with them.
Status ImageSync::sync_all(const Team& team, const Call& call) {
  const RecordedCall recorded = RecordedCall::at(call.place);
  HIROBA_TRY(sync_memory(call));
  if (!team.is_all(parts_.world->nranks)) return sync_team(team, call);
  if (parts_.checker.on()) HIROBA_TRY(parts_.checker.compare_all());
  char text[128];
  return parts_.memory->consistency().barrier(call.write(text));
}

Status ImageSync::sync_at_end(const Call& call) {
  HIROBA_TRY(sync_memory(call));
  if (parts_.checker.on()) HIROBA_TRY(parts_.checker.compare_all());
  return parts_.memory->consistency().barrier_at_end(call.name);
}

Words ImageSync::release_order() { return parts_.checker.release(); }
void ImageSync::acquire_order(const Words& words) { parts_.checker.acquire(words); }
void ImageSync::join_order(Words& into, std::span<const uint32_t> other) { Checker::join(into, other); }

Status ImageSync::sync_team(const Team& team, const Call& call) {
  Checker::Stamp stamp = parts_.checker.release();
  HIROBA_TRY(parts_.memory->collective().teams().barrier(team, call, stamp, Checker::join));
  parts_.checker.acquire(stamp);
  return {};
}

Status ImageSync::sync_ranks(std::span<const int> ranks, const Call& call) {
  const RecordedCall recorded = RecordedCall::at(call.place);
  HIROBA_TRY(sync_memory(call));
  Checker::Stamp stamp = parts_.checker.release();
  for (const int r : ranks) {
    if (r == parts_.world->rank) continue;
    parts_.memory->consistency().release_to(r);
    parts_.mail.arrive(r, stamp);
  }
  for (const int r : ranks) {
    if (r == parts_.world->rank) continue;
    HIROBA_TRY(parts_.mail.await_pair(r, call, stamp));
    parts_.checker.acquire(stamp);
  }
  parts_.memory->consistency().acquire_from(parts_.world->rank);
  return {};
}

// The post carries the count of the puts before it, so they need no acknowledgement until another operation transfers
// this order.
Status ImageSync::post(int rank, int64_t tag, const Call& call) {
  HIROBA_TRY(parts_.updater.await_sent(call));
  unfenced_.store(true, std::memory_order_relaxed);
  parts_.memory->consistency().release_to(rank);
  parts_.mail.post(rank, tag, parts_.checker.release());
  return {};
}

Status ImageSync::wait(int rank, int64_t tag, const Call& call, int& from) {
  Checker::Stamp stamp;
  HIROBA_TRY(parts_.mail.wait(rank, tag, call, from, stamp));
  parts_.checker.acquire(stamp);
  parts_.memory->consistency().acquire_from(parts_.world->rank);
  return {};
}

void ImageSync::fence_posted() {
  if (unfenced_.exchange(false, std::memory_order_relaxed)) parts_.world->transport->fence();
}

}  // namespace hiroba
