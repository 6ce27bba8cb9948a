#include "device/copies.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"

namespace hiroba {

namespace {

// The distance on the device that belongs to a distance in memory, from the first block on; false if it leads outside
// of the copy, or between its blocks.
bool distance(const DeviceSection& section, int64_t bytes, int64_t& out) {
  const DeviceSection dense = section.dense();
  out = 0;
  for (int d = 0; d < section.dims; ++d) {
    const auto i = static_cast<size_t>(d);
    if (section.stride[i] <= 0) return false;
    const int64_t steps = bytes / section.stride[i];
    if (bytes < 0 || steps >= section.count[i]) return false;
    out += steps * dense.stride[i], bytes -= steps * section.stride[i];
  }
  out += bytes;
  return bytes >= 0 && bytes < static_cast<int64_t>(section.bytes);
}

}  // namespace

// Distances add up unless a step leads past the end of a row; then the last block is not where it is expected, because
// each such step leaves out a gap.
bool DeviceCopy::find(const DeviceSection& wanted, DeviceSection& there) const {
  const int64_t first = wanted.address - section.address;
  int64_t begin = 0, end = 0, at = 0;
  if (!distance(section, first, begin)) return false;
  there = wanted;
  there.address = device + begin;
  int64_t last = first, expected = begin;
  for (int d = 0; d < wanted.dims; ++d) {
    const auto i = static_cast<size_t>(d);
    if (wanted.stride[i] < 0 || wanted.count[i] < 1) return false;
    if (wanted.count[i] == 1) continue;
    if (!distance(section, first + wanted.stride[i], at)) return false;
    there.stride[i] = at - begin;
    last += (wanted.count[i] - 1) * wanted.stride[i], expected += (wanted.count[i] - 1) * there.stride[i];
  }
  const auto rest = static_cast<int64_t>(wanted.bytes) - 1;
  return distance(section, first + rest, end) && end == begin + rest && distance(section, last, at) && at == expected &&
         distance(section, last + rest, end) && end == expected + rest;
}

void DeviceCopy::add_user(DeviceStream& stream) {
  if (std::find(users.begin(), users.end(), &stream) == users.end()) users.push_back(&stream);
}

void DeviceCopy::changed(const DeviceSection& what, bool by_kernel) {
  const std::lock_guard<std::mutex> guard(lock);
  if (by_kernel) {
    for (KnownSection& k : known)
      if (overlap(k.section, what)) k.on_device = false;
  } else {
    std::erase_if(known, [&](const KnownSection& k) { return !(k.section == what) && overlap(k.section, what); });
  }
}

DeviceCopyPtr DeviceCopies::find(const DeviceSection& section, DeviceSection& there) {
  for (const DeviceCopyPtr& copy : copies_)
    if (copy->find(section, there)) {
      copy->last_use = ++uses_;
      return copy;
    }
  return nullptr;
}

bool DeviceCopies::has_parts(const DeviceSection& section) const {
  return std::any_of(copies_.begin(), copies_.end(),
                     [&](const DeviceCopyPtr& copy) { return overlap(copy->section, section); });
}

Status DeviceCopies::make(const DeviceSection& section, const char* place, DeviceCopyPtr& out) {
  const size_t bytes = section.total();
  HIROBA_TRY(make_room(bytes, section));
  auto copy = std::make_shared<DeviceCopy>();
  HIROBA_TRY(device_.allocate(bytes, copy->device));
  // Others may use the device, too: its memory may be full before the copies are as many as they may be.
  while (copy->device == nullptr) {
    const uint64_t before = used_;
    if (copies_.empty()) return no_room(bytes, section);
    HIROBA_TRY(make_room(std::min(most_, most_ - used_ + 1), section));
    if (used_ == before) return no_room(bytes, section);
    HIROBA_TRY(device_.allocate(bytes, copy->device));
  }
  copy->section = section, copy->bytes = bytes, copy->place = place, copy->last_use = ++uses_;
  used_ += bytes;
  copies_.push_back(copy);
  out = std::move(copy);
  return {};
}

Status DeviceCopies::join(const DeviceSection& section, const char* place) {
  DeviceSection whole = section, there;
  if (find(section, there) != nullptr) return {};
  for (size_t i = 0; i < copies_.size();) {
    const DeviceCopy& copy = *copies_[i];
    if (copy.held || rules_.unsaved(copy) || !overlap(copy.section, whole)) {
      ++i;
      continue;
    }
    char* const low = std::min(whole.address, copy.section.address + copy.section.bounds().low);
    const char* const high = std::max(whole.end(), copy.section.end());
    HIROBA_TRY(drop(i));
    if (static_cast<uint64_t>(high - low) > most_) continue;
    whole = DeviceSection(low, static_cast<size_t>(high - low));
    i = 0;  // it may share bytes with others now
  }
  DeviceCopyPtr made;
  return make(whole, place, made);
}

// Drops the copies that were not used for the longest time, and that no kernel has written without an overload.
Status DeviceCopies::make_room(size_t bytes, const DeviceSection& section) {
  if (bytes > most_)
    return Status::error(
        format("a section of %s, which begins at %s, is larger than all copies on device %s may be, %s; cut it into "
               "smaller ones, or set option device-cache",
               show_bytes(bytes).c_str(), rules_.array_of(section.address).c_str(), name_.c_str(),
               show_bytes(most_).c_str()));
  while (used_ + bytes > most_) {
    size_t oldest = copies_.size();
    for (size_t i = 0; i < copies_.size(); ++i) {
      const DeviceCopy& copy = *copies_[i];
      const bool goes = !copy.held && !rules_.unsaved(copy);
      if (goes && (oldest == copies_.size() || copy.last_use < copies_[oldest]->last_use)) oldest = i;
    }
    if (oldest == copies_.size()) return no_room(bytes, section);
    HIROBA_TRY(drop(oldest));
  }
  return {};
}

Status DeviceCopies::end_uses(DeviceCopy& copy) {
  for (DeviceStream* stream : copy.users) HIROBA_TRY(stream->finish());
  copy.users.clear();
  return {};
}

Status DeviceCopies::drop(size_t index) {
  const DeviceCopyPtr copy = copies_[index];
  HIROBA_TRY(end_uses(*copy));
  rules_.forget(*copy);
  device_.release(copy->device);
  used_ -= copy->bytes;
  copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(index));
  return {};
}

Status DeviceCopies::drop(const DeviceSection& section) {
  for (const DeviceCopyPtr& copy : copies_)
    if (copy->lent > 0 && covers(section, copy->section))
      return Status::error(
          format("%d tensors of other libraries use %s of %s on device %s; end them before it is dropped", copy->lent,
                 show_bytes(copy->bytes).c_str(), rules_.array_of(copy->section.address).c_str(), name_.c_str()));
  for (size_t i = copies_.size(); i-- > 0;)
    if (covers(section, copies_[i]->section)) HIROBA_TRY(drop(i));
  return {};
}

Status DeviceCopies::drop_unused() {
  for (size_t i = copies_.size(); i-- > 0;)
    if (!copies_[i]->held && !rules_.unsaved(*copies_[i])) HIROBA_TRY(drop(i));
  return {};
}

void DeviceCopies::drop_all() {
  for (const DeviceCopyPtr& copy : copies_) {
    device_.release(copy->device);
    copy->device = nullptr;  // tensors may end later
  }
  copies_.clear();
  used_ = 0;
}

Status DeviceCopies::no_room(size_t bytes, const DeviceSection& section) const {
  std::map<std::string, uint64_t> held, unsaved;
  for (const DeviceCopyPtr& copy : copies_)
    (copy->held ? held : unsaved)[rules_.array_of(copy->section.address)] += copy->bytes;
  std::string what;
  const auto list = [&](const std::map<std::string, uint64_t>& sums, const char* why) {
    for (const auto& [array, sum] : sums)
      what += format("%s%s of %s (%s)", what.empty() ? "" : ", ", show_bytes(sum).c_str(), array.c_str(), why);
  };
  list(held, "held");
  list(unsaved, "written by kernels, without an overload since");
  return Status::error(
      format("no room for %s of %s on device %s: of %s it has %s. Overload or drop them, or set option device-cache",
             show_bytes(bytes).c_str(), rules_.array_of(section.address).c_str(), name_.c_str(),
             show_bytes(most_).c_str(), what.empty() ? "too little left by other programs" : what.c_str()));
}

}  // namespace hiroba
