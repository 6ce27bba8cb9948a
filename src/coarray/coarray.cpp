#include "coarray/parts.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/log.hpp"
#include "base/text.hpp"

namespace hiroba {

Coarrays::Coarrays() : parts_(std::make_unique<Parts>()) {}
Coarrays::~Coarrays() = default;

void Coarrays::listen(Transport& transport) {
  parts_->mail.listen(transport);
  parts_->updater.listen(transport);
}

Status Coarrays::start(Memory& memory) {
  memory_ = &memory, world_ = &memory.collective().world();
  parts_->mail.start(*world_);
  parts_->mover.start(*world_);
  parts_->control.nranks = world_->nranks;
  parts_->control_array.bytes = Control::bytes(world_->nranks, memory.checking());
  parts_->updater.start(*world_, parts_->control);
  parts_->checker.start(memory, memory.checking());
  HIROBA_TRY(allocate(parts_->control_array, "control words of coarrays", "start"));
  parts_->control.offset = parts_->control_array.offset, parts_->control.stride = parts_->control_array.stride;
  return {};
}

// Puts have arrived before the memory is freed.
Status Coarrays::stop() {
  HIROBA_TRY(sync_all(Team::all(world_->nranks), {"xmp_finalize", ""}));
  memory_ = nullptr;
  return {};
}

// ---- allocation ----------------------------------------------------------------------------------------------------

Status Coarrays::allocate(Coarray& coarray, const std::string& call, const char* place) {
  Memory& memory = *memory_;
  const bool guarded = memory.checking() && !coarray.name.empty();
  Arrays::Request request;
  request.parts = GuardedParts::of(coarray.bytes, guarded);
  request.parts.element = coarray.element, request.parts.name = "coarray " + coarray.name;
  request.parts.holder = "image";
  coarray.gap = request.parts.gap, coarray.stride = request.parts.stride;
  request.dim = {world_->nranks, static_cast<int64_t>(coarray.stride)}, request.div = {world_->nranks, 1};
  request.element_bytes = 1, request.first = 0, request.count = world_->nranks;
  request.call = call.c_str(), request.place = place, request.freed_by = "deallocation";
  request.watched = false;  // the coarrays' own checker does
  void* all = nullptr;
  HIROBA_TRY(memory.arrays().allocate(request, all));
  coarray.offset = static_cast<uint64_t>(static_cast<char*>(all) - world_->base) + coarray.gap;
  coarray.data = world_->base + coarray.offset + static_cast<uint64_t>(world_->rank) * coarray.stride;
  if (parts_->checker.on()) parts_->checker.add(coarray);
  if (memory.times().on) counted_.push_back(&coarray);
  return {};
}

void Coarrays::report_statistics() const {
  for (const Coarray* coarray : counted_) report_statistics(*coarray);
}

void Coarrays::report_statistics(const Coarray& coarray) const {
  if (!coarray.name.empty())
    log_line("coarray %s: %llu accesses to other images by calls, %s", coarray.name.c_str(),
             static_cast<unsigned long long>(coarray.accesses), show_bytes(coarray.accessed).c_str());
}

Status Coarrays::free(Coarray& coarray, const std::string& call) {
  HIROBA_TRY(sync_memory({call.c_str(), ""}));
  if (parts_->checker.on()) parts_->checker.remove(coarray);
  if (std::erase(counted_, &coarray) > 0) report_statistics(coarray);
  return memory_->arrays().free(world_->base + coarray.offset - coarray.gap, call.c_str());
}

// ---- finding sections ----------------------------------------------------------------------------------------------

Status Coarrays::locate(const Section& section, size_t element, Place& out) const {
  out.rank = section.rank;
  if (section.coarray == nullptr) {
    out.rank = world_->rank;
    out.here = section.address;
    return {};
  }
  const Coarray& c = *section.coarray;
  if (memory_->times().on && section.rank != world_->rank) {
    std::atomic_ref(c.accesses).fetch_add(1, std::memory_order_relaxed);
    std::atomic_ref(c.accessed)
        .fetch_add(static_cast<uint64_t>(section.box.elements()) * element, std::memory_order_relaxed);
  }
  int64_t low, high;
  section.box.bounds(element, low, high);
  const int64_t at = section.address - c.data, bytes = static_cast<int64_t>(c.bytes);
  if (at < -bytes || at > 2 * bytes)
    return Status::error(
        format("the address of a section of %s lies in another array: give one in this image's part "
               "of the same coarray",
               c.name.c_str()));
  if (at + low < 0 || at + high > bytes || at > bytes) {
    const auto size = static_cast<int64_t>(c.element);
    return Status::error(
        format("%s%s of %s is out of bounds: it reaches from element %lld to element %lld, and an "
               "image has elements 0 to %lld",
               section.box.dims == 0 ? "" : "a section ", section.box.shape().c_str(), c.name.c_str(),
               static_cast<long long>((at + low - (at + low < 0 ? size - 1 : 0)) / size),
               static_cast<long long>((at + high - 1) / size), static_cast<long long>(bytes / size - 1)));
  }
  out.offset = c.offset + static_cast<uint64_t>(section.rank) * c.stride + static_cast<uint64_t>(at);
  out.here = world_->near(section.rank) ? world_->base + out.offset : nullptr;
  return {};
}

// Memory here that other threads, or a holder of locks, must not access because it may be absent.
bool Coarrays::may_fault(const Place& place, const Box& box, size_t element) const {
  int64_t low, high;
  box.bounds(element, low, high);
  return memory_->arrays().may_fault(place.here + low, static_cast<size_t>(high - low));
}

namespace {

bool overlap(const Place& a, const Box& a_box, const Place& b, const Box& b_box, size_t element) {
  int64_t a_low, a_high, b_low, b_high;
  a_box.bounds(element, a_low, a_high);
  b_box.bounds(element, b_low, b_high);
  return a.here + a_low < b.here + b_high && b.here + b_low < a.here + a_high;
}

Status check_shapes(const Section& to, const Section& from) {
  if (conform(to.box, from.box)) return {};
  const auto side = [](const Section& s) {
    const std::string whose = s.coarray == nullptr ? "this image's memory" : "coarray " + s.coarray->name;
    return format("%s of %s (%lld elements)", s.box.shape().c_str(), whose.c_str(),
                  static_cast<long long>(s.box.elements()));
  };
  return Status::error(format("the shapes do not match: %s = %s", side(to).c_str(), side(from).c_str()));
}

}  // namespace

// ---- assignment ----------------------------------------------------------------------------------------------------

Status Coarrays::assign(const Section& to, const Section& from, size_t element) {
  Assignment assignment;
  HIROBA_TRY(move(to, from, element, true, assignment));
  assignment.finish();
  return {};
}

Status Coarrays::start_assign(const Section& to, const Section& from, size_t element, Assignment& assignment) {
  return move(to, from, element, false, assignment);
}

// Data that cannot be moved directly goes through a buffer: when all of it has arrived, finish() completes the
// assignment. `at_once`: finish() follows immediately.
Status Coarrays::move(const Section& to, const Section& from, size_t element, bool at_once, Assignment& a) {
  HIROBA_TRY(check_shapes(to, from));
  if (to.box.elements() == 0) return {};
  Place source;
  HIROBA_TRY(locate(to, element, a.to_));
  HIROBA_TRY(locate(from, element, source));
  if (parts_->checker.on())
    parts_->checker.note(Checker::Kind::write, to, element), parts_->checker.note(Checker::Kind::read, from, element);
  const bool both_here = a.to_.here != nullptr && source.here != nullptr;
  Walk walk;
  bool direct = pair_up(to.box, from.box, element, walk);
  if (both_here && direct && overlap(a.to_, to.box, source, from.box, element)) {
    if (walk.contiguous()) return std::memmove(a.to_.here, source.here, walk.block), Status();
    direct = false;
  } else if (a.to_.here == nullptr) {
    direct = direct && source.here != nullptr && !may_fault(source, from.box, element);
  } else if (source.here == nullptr) {
    direct = direct && !may_fault(a.to_, to.box, element);
  }
  if (direct && source.here != nullptr && at_once) return parts_->mover.put(a.to_, source.here, walk), Status();
  a.owner_ = this;
  if (direct && source.here != nullptr)
    return parts_->mover.start_put(a.to_, source.here, walk, a.under_way_), Status();
  if (direct) return parts_->mover.start_get(a.to_.here, source, walk, a.under_way_), Status();
  a.box_ = to.box, a.element_ = element;
  a.buffer_ = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(from.box.elements()) * element);
  parts_->mover.start_get(a.buffer_.get(), source, walk_packed(from.box, element), a.under_way_);
  return {};
}

Status Coarrays::Assignment::advance(bool& complete) {
  complete = owner_ == nullptr || under_way_.left.load(std::memory_order_acquire) == 0;
  if (complete) finish();
  return {};
}

Status Coarrays::Assignment::hasten(bool& complete) {
  finish();
  complete = true;
  return {};
}

std::string Coarrays::Assignment::missing() const { return format("data of rank %d is on its way", to_.rank); }

void Coarrays::Assignment::finish() {
  if (owner_ == nullptr) return;
  owner_->parts_->mover.await(under_way_);
  if (buffer_ != nullptr) owner_->write_packed(to_, box_, buffer_.get(), element_);
  buffer_.reset();
  owner_ = nullptr;
}

void Coarrays::write_packed(const Place& to, const Box& box, const char* packed, size_t element) {
  Walk walk;
  pair_up(box, box.packed(element), element, walk);
  parts_->mover.put(to, packed, walk);
}

void Coarrays::touch(const Section& section, size_t element, bool writes) {
  if (parts_->checker.on() && section.box.elements() > 0)
    parts_->checker.note(writes ? Checker::Kind::write : Checker::Kind::read, section, element);
}

Status Coarrays::fill(const Section& to, const void* value, size_t element) {
  if (to.box.elements() == 0) return {};
  Place place;
  HIROBA_TRY(locate(to, element, place));
  if (parts_->checker.on()) parts_->checker.note(Checker::Kind::write, to, element);
  if (place.here != nullptr) {
    hiroba::fill(place.here, to.box, value, element);
    return {};
  }
  const auto buffer = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(to.box.elements()) * element);
  hiroba::fill(buffer.get(), to.box.packed(element), value, element);
  write_packed(place, to.box, buffer.get(), element);
  return {};
}

// ---- compound assignment -------------------------------------------------------------------------------------------

std::unique_ptr<char[]> Coarrays::read_packed(const Place& from, const Box& box, size_t element) {
  auto packed = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(box.elements()) * element);
  Completion under_way;
  parts_->mover.start_get(packed.get(), from, walk_packed(box, element), under_way);
  parts_->mover.await(under_way);
  return packed;
}

Status Coarrays::update(const Section& to, const Section& from, const Arithmetic& arithmetic) {
  const size_t to_bytes = bytes_of(arithmetic.to()), from_bytes = bytes_of(arithmetic.values());
  constexpr size_t each_by_itself = 0;  // neighbours form no blocks if elements count as having no size
  const bool single = from.box.dims == 0;
  if (!single) HIROBA_TRY(check_shapes(to, from));
  if (to.box.elements() == 0) return {};
  Place target, source;
  HIROBA_TRY(locate(to, to_bytes, target));
  HIROBA_TRY(locate(from, from_bytes, source));
  if (parts_->checker.on()) {
    parts_->checker.note(to.coarray == nullptr ? Checker::Kind::write : Checker::Kind::update, to, to_bytes);
    parts_->checker.note(Checker::Kind::read, from, from_bytes);
  }
  if (target.here == nullptr) target.here = world_->transport->local_address(target.rank, target.offset);
  Box values = from.box;
  if (single) values = to.box, std::fill_n(values.stride, values.dims, 0);
  Walk walk;
  bool direct = pair_up(to.box, values, each_by_itself, walk) && source.here != nullptr;
  direct = direct && !may_fault(source, from.box, from_bytes) &&
           (target.here == nullptr || !overlap(target, to.box, source, from.box, std::max(to_bytes, from_bytes)));
  std::unique_ptr<char[]> buffer;
  if (!direct) {
    buffer = read_packed(source, from.box, from_bytes);
    source.here = buffer.get();
    if (!single) values = to.box.packed(from_bytes);
    pair_up(to.box, values, each_by_itself, walk);
  }
  walk.block = to_bytes;
  bool forbidden = false;
  if (arithmetic.may_forbid())
    walk.for_each_block([&](int64_t, int64_t at) { forbidden = forbidden || arithmetic.forbids(source.here + at); });
  if (forbidden)
    return Status::error(
        format("division by zero of elements of %s", to.coarray == nullptr ? "a section" : to.coarray->name.c_str()));
  if (to.coarray != nullptr) parts_->updater.update(target, source.here, walk, arithmetic);
  else Updater::compute(target.here, source.here, walk, arithmetic);
  return {};
}

}  // namespace hiroba
