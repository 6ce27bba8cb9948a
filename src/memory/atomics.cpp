#include "memory/atomics.hpp"

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

// This rank's writes to its copy of the page precede the operation in the program: they would undo it if they came home
// later, and a load would miss them.
void Atomics::settle(const Target& target) {
  if (parts_.cache != nullptr && !target.here)
    parts_.cache->writeback.flush(*target.array, target.offset >> page_shift);
}

// This rank has changed the home: the page goes into the notices of the next barrier, and the copy here is dropped.
void Atomics::changed(const Target& target) {
  if (parts_.cache == nullptr || is_direct(target)) return;
  parts_.cache->writeback.note(target.offset >> page_shift);
  if (!target.here) parts_.cache->writeback.flush_and_drop(*target.array, target.offset >> page_shift);
}

// A plain load that follows in the program sees this value, or a later one.
void Atomics::seen(const Target& target, const void* address, unsigned bytes, uint64_t value) {
  const uint64_t page = target.offset >> page_shift;
  if (parts_.cache == nullptr || target.here || parts_.states.state(page) < PageState::valid) return;
  const bool same = bytes == 8 ? *static_cast<const volatile uint64_t*>(address) == value
                               : *static_cast<const volatile uint32_t*>(address) == static_cast<uint32_t>(value);
  if (!same) parts_.cache->writeback.flush_and_drop(*target.array, page);
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
bool Atomics::is_direct(const Target& target) const { return target.here && !parts_.races.on(); }

uint64_t Atomics::perform(const Target& target, void* address, RemoteWords::Operation operation, uint64_t operand,
                          uint64_t expected) const {
  if (is_direct(target)) return RemoteWords::perform_here(static_cast<char*>(address), operation, operand, expected);
  return parts_.transport->words().perform(target.rank, operation, target.offset, operand, expected);
}

void Atomics::record(const Target& target, bool writes, Order order) {
  if (!parts_.races.on()) return;
  if (writes) parts_.races.recorder().blur(target.offset >> page_shift);
  if (order == Order::unknown) parts_.consistency.note_order();
}

void Atomics::note(const void* address, unsigned bytes, bool writes) {
  if (!parts_.races.on()) return;
  PastViewAccesses(parts_.races.recorder()).atomic(static_cast<const char*>(address), bytes, writes);
}

Status Atomics::add(void* address, unsigned bytes, uint64_t value, uint64_t& old, Order order) {
  Target target = {};
  HIROBA_TRY(locate(address, bytes, target));
  record(target, value != 0, order);
  settle(target);
  if (value != 0) before(target);
  old = perform(target, address, RemoteWords::adding(bytes), value, 0);
  if (value != 0) changed(target);
  else seen(target, address, bytes, old);
  after(target);
  return {};
}

Status Atomics::swap(void* address, unsigned bytes, uint64_t expected, uint64_t desired, uint64_t& old, Order order) {
  Target target = {};
  HIROBA_TRY(locate(address, bytes, target));
  record(target, true, order);
  settle(target);
  before(target);
  old = perform(target, address, RemoteWords::swapping(bytes), desired, expected);
  if (old == expected) changed(target);
  else seen(target, address, bytes, old);
  after(target);
  return {};
}

}  // namespace hiroba
