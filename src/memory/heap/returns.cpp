#include "memory/heap/returns.hpp"

#include <algorithm>
#include <cstddef>

#include "base/wait.hpp"

namespace hiroba {

namespace {
constexpr int lap_shift = 56, rank_shift = 24;
constexpr uint64_t below(int shift) { return (uint64_t{1} << shift) - 1; }
constexpr uint64_t lap_of(uint64_t index) { return index / HeapReturns::slots % 255 + 1; }
}  // namespace

void HeapReturns::listen(Transport& transport) { handler_ = add_handler<&HeapReturns::receive>(transport, this); }

void HeapReturns::receive(int /*source*/, const void* payload, size_t /*bytes*/) {
  const auto& message = *static_cast<const Message*>(payload);
  if (ring_ != nullptr) store(*ring_, message.first, {message.slot, message.count});
}

void HeapReturns::start(Config config) {
  config_ = std::move(config);
  const auto ranks = static_cast<size_t>(config_.job.nranks);
  boxes_ = std::make_unique<std::atomic<Box*>[]>(ranks);
  ring_ = reinterpret_cast<Ring*>(config_.base + ring_of(config_.job.rank));
}

HeapReturns::Slot HeapReturns::pack(const FreedObject& object, uint64_t index) {
  const uint64_t lap = lap_of(index) << lap_shift;
  return {lap | object.position,
          lap | static_cast<uint64_t>(object.rank) << rank_shift | (object.site & below(rank_shift))};
}

// Release order: a reader of a word sees everything that the sender has published before it.
void HeapReturns::store(Ring& ring, uint64_t first, std::span<const Slot> from) {
  for (size_t i = 0; i < from.size(); ++i) {
    Slot& slot = ring.slot[(first + i) % slots];
    std::atomic_ref(slot.who).store(from[i].who, std::memory_order_relaxed);
    std::atomic_ref(slot.where).store(from[i].where, std::memory_order_release);
  }
}

HeapReturns::Box& HeapReturns::box(int owner) {
  std::atomic<Box*>& known = boxes_[owner];
  if (Box* const box = known.load(std::memory_order_acquire); box != nullptr) return *box;
  const std::lock_guard<std::mutex> guard(making_);
  if (known.load(std::memory_order_relaxed) == nullptr) {
    owned_.push_back(std::make_unique<Box>());
    known.store(owned_.back().get(), std::memory_order_release);
  }
  return *known.load(std::memory_order_relaxed);
}

void HeapReturns::add(int owner, const FreedObject& object) {
  constexpr double oldest = 0.01;  // seconds
  Box& box = this->box(owner);
  const std::lock_guard<std::mutex> guard(box.lock);
  const double now = seconds_about_now();
  if (box.objects.empty()) box.since = now;
  box.objects.push_back(object);
  if (box.objects.size() % batch == 0 || now - box.since > oldest) send(owner, box);
}

void HeapReturns::send_all() {
  for (int owner = 0; owner < config_.job.nranks; ++owner) {
    Box* const box = boxes_[owner].load(std::memory_order_acquire);
    if (box == nullptr) continue;
    const std::lock_guard<std::mutex> guard(box->lock);
    send(owner, *box);
  }
}

// Reserves slots for `count` objects in the owner's ring; returns false if it has no room.
bool HeapReturns::reserve(int owner, uint64_t count, uint64_t& first) const {
  Transport& transport = *config_.transport;
  const uint64_t ring = ring_of(owner);
  uint64_t added = transport.words().fetch_add64(owner, ring + offsetof(Ring, added), 0);
  uint64_t taken = transport.words().fetch_add64(owner, ring + offsetof(Ring, taken), 0);
  while (added + count - taken <= slots) {
    const uint64_t seen = transport.words().compare_swap64(owner, ring + offsetof(Ring, added), added, added + count);
    if (seen == added) return first = added, true;
    added = seen;
  }
  return false;
}

// Under the box's lock. Objects for which the owner's ring has no room stay.
void HeapReturns::send(int owner, Box& box) {
  if (box.objects.empty()) return;
  config_.publish(box.objects);
  size_t sent = 0;
  while (sent < box.objects.size()) {
    Message message;
    message.count = std::min(batch, box.objects.size() - sent);
    if (!reserve(owner, message.count, message.first)) break;
    for (size_t i = 0; i < message.count; ++i) message.slot[i] = pack(box.objects[sent + i], message.first + i);
    const std::span<const Slot> packed(message.slot, message.count);
    const bool near = config_.job.is_here(owner);
    char* const there = near ? config_.base + ring_of(owner) : config_.transport->local_address(owner, ring_of(owner));
    if (there != nullptr) store(*reinterpret_cast<Ring*>(there), message.first, packed);
    else config_.transport->send(owner, handler_, &message, offsetof(Message, slot) + packed.size_bytes());
    sent += message.count;
    counts_.batches.fetch_add(1, std::memory_order_relaxed);
  }
  counts_.objects.fetch_add(sent, std::memory_order_relaxed);
  box.objects.erase(box.objects.begin(), box.objects.begin() + static_cast<std::ptrdiff_t>(sent));
  box.since = seconds_about_now();
}

void HeapReturns::take(std::vector<FreedObject>& out) {
  uint64_t taken = ring_->taken.load(std::memory_order_relaxed);
  for (const uint64_t added = ring_->added.load(std::memory_order_relaxed); taken < added; ++taken) {
    Slot& slot = ring_->slot[taken % slots];
    const uint64_t lap = lap_of(taken), where = std::atomic_ref(slot.where).load(std::memory_order_acquire);
    if (where >> lap_shift != lap) break;  // reserved, and about to arrive
    const uint64_t who = std::atomic_ref(slot.who).load(std::memory_order_relaxed);
    out.push_back({where & below(lap_shift), static_cast<int>(who >> rank_shift & below(lap_shift - rank_shift)),
                   static_cast<uint32_t>(who & below(rank_shift))});
  }
  // Release order: the slots are read before a sender may see them as free.
  ring_->taken.store(taken, std::memory_order_release);
}

}  // namespace hiroba
