#include "coarray/locks.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "base/record/record.hpp"
#include "coarray/parts.hpp"

namespace hiroba {

namespace {

constexpr uint64_t at_holder = 8;  // the holder is a rank, plus one, and a thread; 0 means none

uint64_t this_thread(int rank) { return static_cast<uint64_t>(rank + 1) << 32 | static_cast<uint32_t>(gettid()); }

std::string show_holder(uint64_t holder, int rank) {
  if (holder == 0) return "nobody holds it";
  const int by = static_cast<int>(holder >> 32) - 1;
  return by == rank ? "another thread of this image holds it" : format("rank %d holds it", by);
}

std::string name_of(const CoarraySection& lock) {
  return format("%s of rank %d", lock.coarray->name.c_str(), lock.rank);
}

}  // namespace

Status CoarrayLocks::locate(const CoarraySection& lock, RemoteAddress& out) const {
  HIROBA_TRY(parts_.locate(lock, out));
  if (out.offset % alignof(uint64_t) == 0) return {};
  return Status::error("a lock in %s is not aligned to 8 bytes", lock.coarray->name.c_str());
}

uint64_t CoarrayLocks::holder_of(const RemoteAddress& lock) const {
  return parts_.world->transport->words().fetch_add64(lock.rank, lock.offset + at_holder, 0);
}

// Only the holder of the lock changes the field.
void CoarrayLocks::set_holder(const RemoteAddress& lock, uint64_t holder) const {
  const uint64_t before = holder_of(lock);
  parts_.world->transport->words().compare_swap64(lock.rank, lock.offset + at_holder, before, holder);
}

// Options report and stats: the wait for it.
CoarrayLocks::Held CoarrayLocks::noted(const CoarraySection& lock, const RemoteAddress& place, double begin,
                                       const char* at) const {
  if (!recording()) return {place, nullptr, 0};
  const RecordedCall recorded = RecordedCall::at(at);
  const double end = seconds_now();
  return {place, note_lock(-1, format("a lock of coarray %s", lock.coarray->name.c_str()).c_str(), begin, end), end};
}

Status CoarrayLocks::lock(const CoarraySection& lock, const Call& call) {
  RemoteAddress place;
  HIROBA_TRY(locate(lock, place));
  const uint64_t self = this_thread(parts_.world->rank);
  if (holder_of(place) == self)
    return Status::error("the thread that holds a lock of %s locks it again", name_of(lock).c_str());
  const auto what = [&] {
    return format("%s for %s; %s", call.text().c_str(), name_of(lock).c_str(),
                  show_holder(holder_of(place), parts_.world->rank).c_str());
  };
  const double begin = recording() ? seconds_now() : 0;
  uint32_t ticket;
  HIROBA_TRY(TicketLock(*parts_.world, place.rank, place.offset).acquire([&] { return call.text(); }, what, ticket));
  took(noted(lock, place, begin, call.place));
  return {};
}

// The same order for shared arrays, which is kept beside the flags of the rank that has the lock.
void CoarrayLocks::took(const Held& taken) {
  const RemoteAddress& lock = taken.lock;
  set_holder(lock, this_thread(parts_.world->rank));
  {
    const std::lock_guard<SignalSafeLock> guard(held_lock_);
    held_.push_back(taken);
  }
  parts_.pass_order(lock, false, true);
  parts_.memory->consistency().acquire_from(lock.rank);
}

Status CoarrayLocks::try_lock(const CoarraySection& lock, const Call& call, bool& taken) {
  RemoteAddress place;
  HIROBA_TRY(locate(lock, place));
  const double begin = recording() ? seconds_now() : 0;
  uint32_t ticket;
  taken = TicketLock(*parts_.world, place.rank, place.offset).try_acquire(ticket);
  if (taken) took(noted(lock, place, begin, call.place));
  return {};
}

Status CoarrayLocks::unlock(const CoarraySection& lock, const Call& call) {
  RemoteAddress place;
  HIROBA_TRY(locate(lock, place));
  const uint64_t holder = holder_of(place);
  if (holder != this_thread(parts_.world->rank))
    return Status::error("unlock of %s by a thread that does not hold it; %s", name_of(lock).c_str(),
                         show_holder(holder, parts_.world->rank).c_str());
  HIROBA_TRY(parts_.image_sync.sync_memory(call));
  parts_.pass_order(place, true, false);
  parts_.memory->consistency().release_to(place.rank);
  set_holder(place, 0);
  {
    const std::lock_guard<SignalSafeLock> guard(held_lock_);
    const auto same = [&](const Held& one) { return one.lock.rank == place.rank && one.lock.offset == place.offset; };
    if (const auto found = std::find_if(held_.begin(), held_.end(), same); found != held_.end()) {
      if (found->site != nullptr) note_held(found->site, seconds_now() - found->since);
      held_.erase(found);
    }
  }
  TicketLock(*parts_.world, place.rank, place.offset).release();
  return {};
}

Status CoarrayLocks::none_held(const char* call) const {
  const std::lock_guard<SignalSafeLock> guard(held_lock_);
  for (const auto& [lock, site, since] : held_)
    if (const Array* const array = parts_.memory->arrays().at(parts_.world->base + lock.offset); array != nullptr)
      return Status::error("%s while this image still holds a lock in %s on rank %d; give it back before", call,
                           array->parts.name.c_str(), lock.rank);
  return {};
}

}  // namespace hiroba
