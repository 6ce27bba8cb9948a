// Synchronisation of images: memory, sets, pairs, posts, locks; and atomics.
#include <unistd.h>

#include <cstddef>

#include "coarray/parts.hpp"

namespace hiroba {

// A rank that calls this while it spins on its own memory also answers requests of others.
Status Coarrays::sync_memory(const Call& call) {
  HIROBA_TRY(parts_->updater.settle(call));
  unfenced_.store(false, std::memory_order_relaxed);
  if (!world_->transport->fence()) world_->transport->progress();
  return {};
}

// The fence is needed although a barrier is one, too: a rank may leave the barrier while another still waits for puts
// in it, and later puts of the first would race with them.
Status Coarrays::sync_all(const Team& team, const Call& call) {
  HIROBA_TRY(sync_memory(call));
  if (!team.is_all(world_->nranks)) return sync_team(team, call);
  if (parts_->checker.on()) HIROBA_TRY(parts_->checker.meet());
  char text[128];
  return memory_->consistency().barrier(call.write(text));
}

Words Coarrays::release_order() { return parts_->checker.release(); }
void Coarrays::acquire_order(const Words& words) { parts_->checker.acquire(words); }
void Coarrays::join_order(Words& into, std::span<const uint32_t> other) { Checker::join(into, other); }

Status Coarrays::sync_team(const Team& team, const Call& call) {
  Checker::Stamp stamp = parts_->checker.release();
  HIROBA_TRY(collective().teams().barrier(team, call, stamp, Checker::join));
  parts_->checker.acquire(stamp);
  return {};
}

Status Coarrays::sync_ranks(std::span<const int> ranks, const Call& call) {
  HIROBA_TRY(sync_memory(call));
  Checker::Stamp stamp = parts_->checker.release();
  for (const int r : ranks)
    if (r != world_->rank) parts_->mail.arrive(r, stamp);
  for (const int r : ranks) {
    if (r == world_->rank) continue;
    HIROBA_TRY(parts_->mail.await_pair(r, call, stamp));
    parts_->checker.acquire(stamp);
  }
  return {};
}

// The post carries the count of the puts before it, so they need no acknowledgement until another operation transfers
// this order.
Status Coarrays::post(int rank, int64_t tag, const Call& call) {
  HIROBA_TRY(parts_->updater.settle(call));
  unfenced_.store(true, std::memory_order_relaxed);
  parts_->mail.post(rank, tag, parts_->checker.release());
  return {};
}

Status Coarrays::wait(int rank, int64_t tag, const Call& call, int& from) {
  Checker::Stamp stamp;
  HIROBA_TRY(parts_->mail.wait(rank, tag, call, from, stamp));
  parts_->checker.acquire(stamp);
  return {};
}

// For the checker: a synchronisation by a word transfers the clock at the word's home. Atomics order nothing by
// themselves, but programs may build an order with them, so they count as synchronisations.
void Coarrays::pass_order(const Place& word, bool release, bool acquire) {
  if (!parts_->checker.on()) return;
  Transport& transport = *world_->transport;
  const uint64_t at = parts_->control.clock(word.rank, word.offset);
  while (transport.compare_swap32(word.rank, at, 0, 1) != 0) transport.progress();
  Checker::Stamp there(static_cast<size_t>(world_->nranks) + 1);
  transport.get(there.data(), word.rank, at + sizeof(uint32_t), there.size() * sizeof there[0]);
  if (acquire) parts_->checker.acquire(there);
  if (release) {
    Checker::Stamp stamp = parts_->checker.release();
    Checker::join(stamp, there);
    transport.put(word.rank, at + sizeof(uint32_t), stamp.data(), stamp.size() * sizeof stamp[0]);
    transport.fence();
  }
  transport.compare_swap32(word.rank, at, 1, 0);
}

// ---- locks ---------------------------------------------------------------------------------------------------------
// A ticket lock, and its holder, which is a rank and a thread, plus one, so that 0 means no holder.

namespace {

constexpr uint64_t at_holder = 8;
constexpr size_t lock_bytes = 24;

uint64_t this_thread(int rank) { return static_cast<uint64_t>(rank + 1) << 32 | static_cast<uint32_t>(gettid()); }

std::string show_holder(uint64_t holder, int rank) {
  if (holder == 0) return "nobody holds it";
  const int by = static_cast<int>(holder >> 32) - 1;
  return by == rank ? "another thread of this image holds it" : format("rank %d holds it", by);
}

std::string name_of(const Section& lock) { return format("%s of rank %d", lock.coarray->name.c_str(), lock.rank); }

}  // namespace

Status Coarrays::lock_at(const Section& lock, Place& out) const {
  HIROBA_TRY(locate(lock, lock_bytes, out));
  if (out.offset % alignof(uint64_t) == 0) return {};
  return Status::error(format("a lock in %s is not aligned to 8 bytes", lock.coarray->name.c_str()));
}

uint64_t Coarrays::holder_of(const Place& lock) const {
  return world_->transport->fetch_add64(lock.rank, lock.offset + at_holder, 0);
}

// Only the holder of the lock changes the field.
void Coarrays::take_lock(const Place& lock, uint64_t holder) const {
  const uint64_t before = holder_of(lock);
  world_->transport->compare_swap64(lock.rank, lock.offset + at_holder, before, holder);
}

Status Coarrays::lock(const Section& lock, const Call& call) {
  Place place;
  HIROBA_TRY(lock_at(lock, place));
  const uint64_t self = this_thread(world_->rank);
  if (holder_of(place) == self)
    return Status::error(format("the thread that holds a lock of %s locks it again", name_of(lock).c_str()));
  const auto what = [&] {
    return format("%s for %s; %s", call.text().c_str(), name_of(lock).c_str(),
                  show_holder(holder_of(place), world_->rank).c_str());
  };
  uint32_t ticket;
  HIROBA_TRY(TicketLock(*world_, place.rank, place.offset).acquire([&] { return call.text(); }, what, ticket));
  take_lock(place, self);
  pass_order(place, false, true);
  return {};
}

Status Coarrays::try_lock(const Section& lock, const Call&, bool& taken) {
  Place place;
  HIROBA_TRY(lock_at(lock, place));
  uint32_t ticket;
  taken = TicketLock(*world_, place.rank, place.offset).try_acquire(ticket);
  if (taken) take_lock(place, this_thread(world_->rank)), pass_order(place, false, true);
  return {};
}

Status Coarrays::unlock(const Section& lock, const Call& call) {
  Place place;
  HIROBA_TRY(lock_at(lock, place));
  const uint64_t holder = holder_of(place);
  if (holder != this_thread(world_->rank))
    return Status::error(format("unlock of %s by a thread that does not hold it; %s", name_of(lock).c_str(),
                                show_holder(holder, world_->rank).c_str()));
  HIROBA_TRY(sync_memory(call));
  pass_order(place, true, false);
  take_lock(place, 0);
  TicketLock(*world_, place.rank, place.offset).release();
  return {};
}

// ---- atomics -------------------------------------------------------------------------------------------------------

Status Coarrays::word_at(const Section& word, unsigned bytes, Place& out) const {
  if (bytes != 4 && bytes != 8)
    return Status::error(format("atomic access to %u bytes; integers of 4 or 8 bytes can be accessed so", bytes));
  HIROBA_TRY(locate(word, bytes, out));
  if (out.offset % bytes == 0) return {};
  return Status::error(format("atomic access to a word of %u bytes that is not aligned to so many", bytes));
}

Status Coarrays::atomic_add(const Section& word, unsigned bytes, uint64_t value, uint64_t& old) {
  Place place;
  HIROBA_TRY(word_at(word, bytes, place));
  Transport& transport = *world_->transport;
  if (unfenced_.exchange(false, std::memory_order_relaxed)) transport.fence();
  pass_order(place, true, false);
  old = bytes == 8 ? transport.fetch_add64(place.rank, place.offset, value)
                   : transport.fetch_add32(place.rank, place.offset, static_cast<uint32_t>(value));
  pass_order(place, false, true);
  return {};
}

Status Coarrays::atomic_swap(const Section& word, unsigned bytes, uint64_t expected, uint64_t desired, uint64_t& old) {
  Place place;
  HIROBA_TRY(word_at(word, bytes, place));
  Transport& transport = *world_->transport;
  if (unfenced_.exchange(false, std::memory_order_relaxed)) transport.fence();
  pass_order(place, true, true);
  old = bytes == 8 ? transport.compare_swap64(place.rank, place.offset, expected, desired)
                   : transport.compare_swap32(place.rank, place.offset, static_cast<uint32_t>(expected),
                                              static_cast<uint32_t>(desired));
  return {};
}

}  // namespace hiroba
