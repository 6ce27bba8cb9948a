#include "memory/sync/conditions.hpp"

#include "base/text.hpp"
#include "memory/parts.hpp"

namespace hiroba {

namespace {

// Offsets in a condition, 32 bits each: the number of threads that have begun to wait, the number woken, and one more
// than the lock of those that wait.
constexpr uint64_t begun_at = 0, woken_at = 4, lock_at = 8;

}  // namespace

Status Conditions::locate(int id, const char* call, Place& out) const {
  if (id < 0 || id >= static_cast<int>(Layout::conditions))
    return Status::error("%s: condition %d does not exist; conditions are 0..%d", call, id,
                         static_cast<int>(Layout::conditions) - 1);
  out = {id % parts_.job.nranks, parts_.layout.condition(id)};
  return {};
}

// A lock that threads named before may remain after all of them have been woken; it is then replaced.
Status Conditions::use_lock(const Place& place, int id, int lock, const char* call) {
  Transport& transport = *parts_.transport;
  const auto mine = static_cast<uint32_t>(lock + 1);
  uint32_t other = transport.words().compare_swap32(place.rank, place.offset + lock_at, 0, mine);
  while (other != 0 && other != mine) {
    const uint64_t word = transport.words().fetch_add64(place.rank, place.offset + begun_at, 0);
    if (static_cast<uint32_t>(word) != static_cast<uint32_t>(word >> 32))
      return Status::error(
          "%s(%d, %d): others wait for condition %d with lock %u; all that wait for a condition "
          "name the same lock",
          call, id, lock, id, other - 1);
    const uint32_t now = transport.words().compare_swap32(place.rank, place.offset + lock_at, other, mine);
    if (now == other) break;
    other = now;
  }
  return {};
}

Status Conditions::wait(int id, int lock, const char* call) {
  Place place;
  HIROBA_TRY(locate(id, call, place));
  HIROBA_TRY(Locks::check_id(lock, call));
  if (!parts_.locks.holds(lock))
    return Status::error(
        "%s(%d, %d) by a thread that does not hold lock %d; take it, test what is waited for, "
        "and wait while it is not so",
        call, id, lock, lock);
  HIROBA_TRY(use_lock(place, id, lock, call));
  const uint32_t mine = parts_.transport->words().fetch_add32(place.rank, place.offset + begun_at, 1);
  HIROBA_TRY(parts_.locks.unlock(lock, call));
  const auto text = [&] { return format("%s(%d, %d)", call, id, lock); };
  const auto what = [&] { return text() + ", which nobody has signalled since"; };
  const auto woken = [mine](uint32_t count) { return static_cast<int32_t>(count - mine) > 0; };
  HIROBA_TRY(parts_.collective.world().await_word(place.rank, place.offset + woken_at, woken, text, what));
  return parts_.locks.lock(lock, call);
}

Status Conditions::signal(int id, const char* call) {
  Place place;
  HIROBA_TRY(locate(id, call, place));
  wake(place, false);
  return {};
}

Status Conditions::broadcast(int id, const char* call) {
  Place place;
  HIROBA_TRY(locate(id, call, place));
  wake(place, true);
  return {};
}

void Conditions::wake(const Place& place, bool all) {
  Transport& transport = *parts_.transport;
  uint64_t word = transport.words().fetch_add64(place.rank, place.offset + begun_at, 0);
  for (;;) {
    const auto begun = static_cast<uint32_t>(word), woken = static_cast<uint32_t>(word >> 32);
    if (begun == woken) return;
    const uint64_t next = static_cast<uint64_t>(all ? begun : woken + 1) << 32 | begun;
    const uint64_t now = transport.words().compare_swap64(place.rank, place.offset + begun_at, word, next);
    if (now == word) break;
    word = now;
  }
  transport.words().wake(place.rank, place.offset + woken_at);
}

}  // namespace hiroba
