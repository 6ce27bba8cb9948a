#include "coarray/assignments.hpp"

#include <algorithm>
#include <cstring>

#include "coarray/parts.hpp"

namespace hiroba {

// ---- an assignment in progress -------------------------------------------------------------------------------------

Status Assignment::advance(bool& complete) {
  complete = mover_ == nullptr || under_way_.left.load(std::memory_order_acquire) == 0;
  if (complete) finish();
  return {};
}

Status Assignment::hasten(bool& complete) {
  finish();
  complete = true;
  return {};
}

std::string Assignment::missing() const { return format("data of rank %d is on its way", to_.rank); }

void Assignment::finish() {
  if (mover_ == nullptr) return;
  mover_->await(under_way_);
  if (buffer_ != nullptr) mover_->put_packed(to_, box_, buffer_.get(), element_);
  buffer_.reset();
  mover_ = nullptr;
}

// ---- sections ------------------------------------------------------------------------------------------------------

// Returns true for memory here that other threads, or a holder of locks, must not access because it may be absent.
bool Assignments::may_fault(const Place& place, const Box& box, size_t element) const {
  int64_t low, high;
  box.bounds(element, low, high);
  return parts_.memory->arrays().may_fault(place.here + low, static_cast<size_t>(high - low));
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

Status Assignments::assign(const Section& to, const Section& from, size_t element) {
  Assignment assignment;
  HIROBA_TRY(move(to, from, element, true, assignment));
  assignment.finish();
  return {};
}

Status Assignments::start(const Section& to, const Section& from, size_t element, Assignment& assignment) {
  return move(to, from, element, false, assignment);
}

// Data that cannot be moved directly goes through a buffer: when all of it has arrived, finish() completes the
// assignment. `at_once`: finish() follows immediately.
Status Assignments::move(const Section& to, const Section& from, size_t element, bool at_once, Assignment& a) {
  HIROBA_TRY(check_shapes(to, from));
  if (to.box.elements() == 0) return {};
  Place source;
  HIROBA_TRY(parts_.locate(to, element, a.to_));
  HIROBA_TRY(parts_.locate(from, element, source));
  if (parts_.checker.on())
    parts_.checker.note(Checker::Kind::write, to, element), parts_.checker.note(Checker::Kind::read, from, element);
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
  if (direct && source.here != nullptr && at_once) return parts_.mover.put(a.to_, source.here, walk), Status();
  a.mover_ = &parts_.mover;
  if (direct && source.here != nullptr) return parts_.mover.start_put(a.to_, source.here, walk, a.under_way_), Status();
  if (direct) return parts_.mover.start_get(a.to_.here, source, walk, a.under_way_), Status();
  a.box_ = to.box, a.element_ = element;
  a.buffer_ = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(from.box.elements()) * element);
  parts_.mover.start_get(a.buffer_.get(), source, walk_packed(from.box, element), a.under_way_);
  return {};
}

void Assignments::touch(const Section& section, size_t element, bool writes) {
  if (parts_.checker.on() && section.box.elements() > 0)
    parts_.checker.note(writes ? Checker::Kind::write : Checker::Kind::read, section, element);
}

Status Assignments::fill(const Section& to, const void* value, size_t element) {
  if (to.box.elements() == 0) return {};
  Place place;
  HIROBA_TRY(parts_.locate(to, element, place));
  if (parts_.checker.on()) parts_.checker.note(Checker::Kind::write, to, element);
  if (place.here != nullptr) {
    hiroba::fill(place.here, to.box, value, element);
    return {};
  }
  const auto buffer = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(to.box.elements()) * element);
  hiroba::fill(buffer.get(), to.box.packed(element), value, element);
  parts_.mover.put_packed(place, to.box, buffer.get(), element);
  return {};
}

// ---- compound assignment -------------------------------------------------------------------------------------------

Status Assignments::update(const Section& to, const Section& from, const Arithmetic& arithmetic) {
  const size_t to_bytes = bytes_of(arithmetic.to()), from_bytes = bytes_of(arithmetic.values());
  constexpr size_t each_by_itself = 0;  // neighbours form no blocks if the size of elements is 0
  const bool single = from.box.dims == 0;
  if (!single) HIROBA_TRY(check_shapes(to, from));
  if (to.box.elements() == 0) return {};
  Place target, source;
  HIROBA_TRY(parts_.locate(to, to_bytes, target));
  HIROBA_TRY(parts_.locate(from, from_bytes, source));
  if (parts_.checker.on()) {
    parts_.checker.note(to.coarray == nullptr ? Checker::Kind::write : Checker::Kind::update, to, to_bytes);
    parts_.checker.note(Checker::Kind::read, from, from_bytes);
  }
  if (target.here == nullptr) target.here = parts_.world->transport->local_address(target.rank, target.offset);
  Box values = from.box;
  if (single) values = to.box, std::fill_n(values.stride, values.dims, 0);
  Walk walk;
  bool direct = pair_up(to.box, values, each_by_itself, walk) && source.here != nullptr;
  direct = direct && !may_fault(source, from.box, from_bytes) &&
           (target.here == nullptr || !overlap(target, to.box, source, from.box, std::max(to_bytes, from_bytes)));
  std::unique_ptr<char[]> buffer;
  if (!direct) {
    buffer = parts_.mover.get_packed(source, from.box, from_bytes);
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
  if (to.coarray != nullptr) parts_.updater.update(target, source.here, walk, arithmetic);
  else Updater::compute(target.here, source.here, walk, arithmetic);
  return {};
}

}  // namespace hiroba
