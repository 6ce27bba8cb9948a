#include "memory/atomics.hpp"

#include <atomic>

#include "base/text.hpp"
#include "memory/parts.hpp"

namespace hiroba {

struct Atomics::Target {
  int rank;
  uint64_t offset;
  Array* array;
  bool here;  // its home is on this node
};

Status Atomics::locate(void* address, unsigned bytes, Target& out) const {
  Array* array = nullptr;
  HIROBA_TRY(parts_.arrays.find(address, array));
  if (reinterpret_cast<uintptr_t>(address) % bytes != 0)
    return Status::error("atomic on %u bytes at %p, which is not a multiple of %u, in array %s", bytes, address, bytes,
                         array->name);
  const int rank = array->home(parts_.page_of(address)).rank;
  out = {rank, parts_.space.offset(address), array, parts_.is_here(rank)};
  return {};
}

// This rank has changed the home: the page goes into the notices of the next barrier, and the copy here is dropped.
void Atomics::changed(const Target& target) {
  if (parts_.cache == nullptr) return;
  parts_.cache->writeback.note(target.offset >> page_shift);
  if (!target.here) parts_.cache->writeback.flush_and_drop(*target.array, target.offset >> page_shift);
}

// A release precedes the operation that may signal it. sync() acquires what others have released.
void Atomics::before(const Target& target) {
  if (parts_.cache != nullptr) parts_.intervals.before_flag(target.rank);
}
void Atomics::after(const Target& target) {
  if (parts_.cache != nullptr) parts_.intervals.after_flag(target.rank);
}

// With option check, atomics reach the home by another mapping, so that they do not count as plain accesses to the
// page.
void Atomics::record(const Target& target, bool writes) {
  if (!parts_.races.on()) return;
  if (writes) parts_.races.recorder().blur(target.offset >> page_shift);
  parts_.consistency.note_order();
}

Status Atomics::add(void* address, unsigned bytes, uint64_t value, uint64_t& old) {
  Target target = {};
  HIROBA_TRY(locate(address, bytes, target));
  record(target, value != 0);
  if (value != 0) before(target);
  old = add_at(target, address, bytes, value);
  after(target);
  return {};
}

uint64_t Atomics::add_at(const Target& target, void* address, unsigned bytes, uint64_t value) {
  if (target.here && !parts_.races.on())
    return bytes == 8 ? std::atomic_ref(*static_cast<uint64_t*>(address)).fetch_add(value)
                      : std::atomic_ref(*static_cast<uint32_t*>(address)).fetch_add(static_cast<uint32_t>(value));
  const uint64_t old =
      bytes == 8 ? parts_.transport->words().fetch_add64(target.rank, target.offset, value)
                 : parts_.transport->words().fetch_add32(target.rank, target.offset, static_cast<uint32_t>(value));
  if (value != 0) changed(target);
  return old;
}

Status Atomics::swap(void* address, unsigned bytes, uint64_t expected, uint64_t desired, uint64_t& old) {
  Target target = {};
  HIROBA_TRY(locate(address, bytes, target));
  record(target, true);
  before(target);
  old = swap_at(target, address, bytes, expected, desired);
  after(target);
  return {};
}

uint64_t Atomics::swap_at(const Target& target, void* address, unsigned bytes, uint64_t expected, uint64_t desired) {
  if (target.here && !parts_.races.on()) {
    if (bytes == 8) {
      std::atomic_ref(*static_cast<uint64_t*>(address)).compare_exchange_strong(expected, desired);
      return expected;
    }
    auto found = static_cast<uint32_t>(expected);
    std::atomic_ref(*static_cast<uint32_t*>(address)).compare_exchange_strong(found, static_cast<uint32_t>(desired));
    return found;
  }
  const uint64_t old =
      bytes == 8 ? parts_.transport->words().compare_swap64(target.rank, target.offset, expected, desired)
                 : parts_.transport->words().compare_swap32(target.rank, target.offset, static_cast<uint32_t>(expected),
                                                            static_cast<uint32_t>(desired));
  if (old == expected) changed(target);
  return old;
}

}  // namespace hiroba
