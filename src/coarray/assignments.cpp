#include "coarray/assignments.hpp"

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
  if (buffer_ != nullptr) mover_->put_packed(to_, section_, buffer_.get());
  buffer_.reset();
  mover_ = nullptr;
}

// ---- sections ------------------------------------------------------------------------------------------------------

// True for memory here that other threads, or a holder of locks, must not access because it may be absent.
bool Assignments::may_fault(const Section& section) const {
  const auto [low, high] = section.bounds();
  return parts_.memory->arrays().may_fault(section.address + low, static_cast<size_t>(high - low));
}

namespace {

// The section where this process can access it.
Section at(char* here, const CoarraySection& section) {
  Section out = section.section;
  out.address = here;
  return out;
}

Status check_shapes(const CoarraySection& to, const CoarraySection& from) {
  if (conform(to.section, from.section)) return {};
  const auto side = [](const CoarraySection& s) {
    const std::string whose = s.coarray == nullptr ? "this image's memory" : "coarray " + s.coarray->name;
    return format("%s of %s (%ld elements)", s.section.shape().c_str(), whose.c_str(), s.section.blocks());
  };
  return Status::error("the shapes do not match: %s = %s", side(to).c_str(), side(from).c_str());
}

}  // namespace

// ---- assignment ----------------------------------------------------------------------------------------------------

Status Assignments::assign(const CoarraySection& to, const CoarraySection& from) {
  Assignment assignment;
  HIROBA_TRY(move(to, from, true, assignment));
  assignment.finish();
  return {};
}

Status Assignments::start(const CoarraySection& to, const CoarraySection& from, Assignment& assignment) {
  return move(to, from, false, assignment);
}

// Data that cannot be moved directly goes through a buffer: when all of it has arrived, finish() completes the
// assignment. `at_once`: finish() follows immediately.
Status Assignments::move(const CoarraySection& to, const CoarraySection& from, bool at_once, Assignment& a) {
  HIROBA_TRY(check_shapes(to, from));
  if (to.section.blocks() == 0) return {};
  RemoteAddress source;
  HIROBA_TRY(parts_.locate(to, a.to_));
  HIROBA_TRY(parts_.locate(from, source));
  if (parts_.checker.on())
    parts_.checker.note(Checker::Kind::write, to), parts_.checker.note(Checker::Kind::read, from);
  const Section target_here = at(a.to_.here, to), source_here = at(source.here, from);
  Walk walk;
  bool direct = pair_up(to.section, from.section, to.section.bytes, walk);
  if (a.to_.here != nullptr && source.here != nullptr) {
    if (direct && overlap(target_here, source_here)) {
      if (walk.contiguous()) return std::memmove(a.to_.here, source.here, walk.block), Status();
      direct = false;
    }
  } else if (a.to_.here == nullptr) {
    direct = direct && source.here != nullptr && !may_fault(source_here);
  } else {
    direct = direct && !may_fault(target_here);
  }
  if (direct && source.here != nullptr && at_once) return parts_.mover.put(a.to_, source.here, walk), Status();
  a.mover_ = &parts_.mover;
  if (direct && source.here != nullptr) return parts_.mover.start_put(a.to_, source.here, walk, a.under_way_), Status();
  if (direct) return parts_.mover.start_get(a.to_.here, source, walk, a.under_way_), Status();
  a.section_ = to.section;
  a.buffer_ = std::make_unique_for_overwrite<char[]>(from.section.total());
  parts_.mover.start_get(a.buffer_.get(), source, walk_packed(from.section), a.under_way_);
  return {};
}

void Assignments::touch(const CoarraySection& section, bool writes) {
  if (parts_.checker.on() && section.section.blocks() > 0)
    parts_.checker.note(writes ? Checker::Kind::write : Checker::Kind::read, section);
}

Status Assignments::fill(const CoarraySection& to, const void* value) {
  if (to.section.blocks() == 0) return {};
  RemoteAddress place;
  HIROBA_TRY(parts_.locate(to, place));
  if (parts_.checker.on()) parts_.checker.note(Checker::Kind::write, to);
  if (place.here != nullptr) {
    hiroba::fill(at(place.here, to), value);
    return {};
  }
  const auto buffer = std::make_unique_for_overwrite<char[]>(to.section.total());
  hiroba::fill(to.section.dense(buffer.get()), value);
  parts_.mover.put_packed(place, to.section, buffer.get());
  return {};
}

// ---- compound assignment -------------------------------------------------------------------------------------------

Status Assignments::update(const CoarraySection& to, const CoarraySection& from, const Arithmetic& arithmetic) {
  constexpr size_t each_by_itself = 0;  // neighbours form no blocks if elements count as having no size
  const bool single = from.section.dims == 0;
  if (!single) HIROBA_TRY(check_shapes(to, from));
  if (to.section.blocks() == 0) return {};
  RemoteAddress target, source;
  HIROBA_TRY(parts_.locate(to, target));
  HIROBA_TRY(parts_.locate(from, source));
  if (parts_.checker.on()) {
    parts_.checker.note(to.coarray == nullptr ? Checker::Kind::write : Checker::Kind::update, to);
    parts_.checker.note(Checker::Kind::read, from);
  }
  if (target.here == nullptr) target.here = parts_.world->transport->local_address(target.rank, target.offset);
  Section values = single ? to.section.repeated() : from.section;
  Walk walk;
  bool direct = pair_up(to.section, values, each_by_itself, walk) && source.here != nullptr;
  direct = direct && !may_fault(at(source.here, from)) &&
           (target.here == nullptr || !overlap(at(target.here, to), at(source.here, from)));
  std::unique_ptr<char[]> buffer;
  if (!direct) {
    buffer = parts_.mover.get_packed(source, from.section);
    source.here = buffer.get();
    if (!single) {
      values = to.section;
      values.bytes = from.section.bytes;
      values = values.dense();
    }
    pair_up(to.section, values, each_by_itself, walk);
  }
  walk.block = to.section.bytes;
  bool forbidden = false;
  if (arithmetic.may_forbid())
    walk.for_each_block([&](int64_t, int64_t at) { forbidden = forbidden || arithmetic.forbids(source.here + at); });
  if (forbidden)
    return Status::error("division by zero of elements of %s",
                         to.coarray == nullptr ? "a section" : to.coarray->name.c_str());
  if (to.coarray != nullptr) parts_.updater.update(target, source.here, walk, arithmetic);
  else Updater::compute(target.here, source.here, walk, arithmetic);
  return {};
}

}  // namespace hiroba
