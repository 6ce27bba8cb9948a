#include "device/order.hpp"

#include <algorithm>

namespace hiroba {

namespace {

using Kind = DeviceUse::Kind;

void join(DeviceClock& into, const DeviceClock& other) {
  into.resize(std::max(into.size(), other.size()));
  for (size_t i = 0; i < other.size(); ++i) into[i] = std::max(into[i], other[i]);
}

bool comes_before(const DeviceUse& use, const DeviceClock& clock) {
  return use.stream < clock.size() && clock[use.stream] >= use.number;
}

// True if the two need an order: in one copy if either changes what is there, at the processor if either writes.
bool conflict(const DeviceUse& a, const DeviceUse& b) {
  if (!overlap(a.section, b.section)) return false;
  const bool read_alone = a.kind != b.kind && (a.kind == Kind::reads || b.kind == Kind::reads) &&
                          (a.kind == Kind::preload || b.kind == Kind::preload);
  if (a.of_task && b.of_task && read_alone) return false;
  if (a.copy != nullptr && a.copy == b.copy && (a.to_device() || b.to_device())) return true;
  return a.on_host() && b.on_host() && (a.kind == Kind::overload || b.kind == Kind::overload);
}

}  // namespace

std::string DeviceUse::what() const {
  const std::string at = place.empty() ? "" : " at " + place;
  if (kind == Kind::preload) return "the preload" + at;
  if (kind == Kind::overload) return "the overload" + at;
  return kernel.empty() ? "the forward" + at : "kernel " + kernel + at;
}

size_t DeviceOrder::add_stream() {
  streams_.push_back(program_);
  return streams_.size() - 1;
}

DeviceClock DeviceOrder::begin(size_t stream) {
  DeviceClock& clock = streams_[stream];
  join(clock, program_);
  if (clock.size() <= stream) clock.resize(stream + 1);
  ++clock[stream];
  return clock;
}

void DeviceOrder::after(size_t later, size_t earlier) { join(streams_[later], streams_[earlier]); }

// A use that the program has waited for needs no order any more; those that say what is on the device stay.
void DeviceOrder::waited(const DeviceClock& clock) {
  join(program_, clock);
  std::erase_if(uses_, [&](const DeviceUse& use) { return !use.to_device() && comes_before(use, program_); });
}

bool DeviceOrder::has(Kind a, Kind b, const DeviceUse& now) const {
  return std::any_of(uses_.begin(), uses_.end(), [&](const DeviceUse& use) {
    return use.copy == now.copy && (use.kind == a || use.kind == b) && overlap(use.section, now.section);
  });
}

Status DeviceOrder::told() {
  if (!pending_) return {};
  pending_ = false;
  const std::string on = format("on device %d", pending_use_.device), section = describe_(pending_use_.section);
  if (pending_use_.kind == Kind::overload)
    return Status::error(format("%s writes back %s, which no kernel has written %s; call it after the kernel",
                                pending_use_.what().c_str(), section.c_str(), on.c_str()));
  return Status::error(
      format("%s uses %s, which is not %s: no preload has brought it there, and no kernel has written "
             "it; call hiroba_device_preload before",
             pending_use_.what().c_str(), section.c_str(), on.c_str()));
}

Status DeviceOrder::tell_pending(const DeviceUse& now) {
  if (!pending_) return {};
  const bool same = pending_use_.device == now.device && overlap(pending_use_.section, now.section);
  const bool too_early = pending_use_.kind == Kind::overload ? !now.on_host() : now.kind == Kind::preload;
  if (!same || !too_early) return told();
  pending_ = false;
  return Status::error(format("%s of %s comes before %s, on device %d; exchange them", pending_use_.what().c_str(),
                              describe_(pending_use_.section).c_str(), now.what().c_str(), now.device));
}

Status DeviceOrder::find_unordered(const DeviceUse& now, const DeviceClock& clock) const {
  const auto found = std::find_if(uses_.rbegin(), uses_.rend(), [&](const DeviceUse& use) {
    return conflict(use, now) && !comes_before(use, clock);
  });
  if (found == uses_.rend()) return {};
  return Status::error(
      format("%s and %s use %s in two streams, and nothing orders them; use one stream, hiroba_stream_after, or a wait "
             "in between",
             now.what().c_str(), found->what().c_str(), describe_(now.section).c_str()));
}

Status DeviceOrder::add(DeviceUse use, size_t stream, bool& nothing) {
  const DeviceClock& clock = streams_[stream];
  use.stream = stream, use.number = clock[stream];
  HIROBA_TRY(tell_pending(use));
  HIROBA_TRY(find_unordered(use, clock));
  if (use.kind == Kind::preload)
    if (const DeviceUse* lost = unsaved_bytes(use))
      return Status::error(
          format("%s would overwrite %s on device %d, which %s has written and no overload has "
                 "written back; call hiroba_device_overload before, or hiroba_device_drop",
                 use.what().c_str(), describe_(use.section).c_str(), use.device, lost->what().c_str()));
  const bool absent = use.copy == nullptr;
  const bool is_missing = (use.kind == Kind::reads && (absent || !has(Kind::preload, Kind::writes, use))) ||
                          (use.kind == Kind::overload && (absent || !has(Kind::writes, Kind::writes, use)));
  if (is_missing) {
    pending_ = nothing = true;
    pending_use_ = std::move(use);
    return {};
  }
  record(std::move(use), clock);
  return {};
}

// An earlier use has no say any more once a later one, which comes after it, covers it and does at least as much.
void DeviceOrder::record(DeviceUse now, const DeviceClock& clock) {
  std::erase_if(uses_, [&](DeviceUse& use) {
    if (use.copy != now.copy || !comes_before(use, clock) || !covers(now.section, use.section)) return false;
    if (now.kind == Kind::overload && use.kind == Kind::writes) use.written_back = true;
    if (now.kind == Kind::preload) return use.kind != Kind::overload;
    if (now.kind == Kind::writes) return use.kind == Kind::reads || use.kind == Kind::writes;
    return use.kind == now.kind && use.stream == now.stream;
  });
  uses_.push_back(std::move(now));
}

const DeviceUse* DeviceOrder::unsaved_bytes(const DeviceUse& now) const {
  const auto found = std::find_if(uses_.begin(), uses_.end(), [&](const DeviceUse& use) {
    return use.device == now.device && use.kind == Kind::writes && !use.written_back &&
           overlap(use.section, now.section);
  });
  return found == uses_.end() ? nullptr : &*found;
}

const DeviceUse* DeviceOrder::unsaved(const void* copy) const {
  const auto found = std::find_if(uses_.begin(), uses_.end(), [&](const DeviceUse& use) {
    return use.copy == copy && use.kind == Kind::writes && !use.written_back;
  });
  return found == uses_.end() ? nullptr : &*found;
}

std::vector<size_t> DeviceOrder::preloads_before(const DeviceUse& now, size_t stream) const {
  std::vector<size_t> out;
  for (const DeviceUse& use : uses_)
    if (use.of_task && use.kind == Kind::preload && conflict(use, now) && !comes_before(use, streams_[stream]))
      out.push_back(use.stream);
  return out;
}

void DeviceOrder::forget(const void* copy) {
  std::erase_if(uses_, [&](const DeviceUse& use) { return use.copy == copy; });
}

}  // namespace hiroba
