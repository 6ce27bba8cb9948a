#include "transport/wire/remote_memory.hpp"

#include <cassert>
#include <cstring>

#include "base/text.hpp"

namespace hiroba {

namespace {

// The answer to a key request; the key follows it.
struct Told {
  uint64_t offset, bytes, address;
};

// Finds the range that contains the offset.
template <typename Ranges>
auto containing(Ranges& ranges, uint64_t offset) {
  auto at = ranges.upper_bound(offset);
  if (at == ranges.begin()) return ranges.end();
  --at;
  return offset - at->first < at->second.bytes ? at : ranges.end();
}

template <typename Ranges, typename Forget>
void erase(Ranges& ranges, uint64_t offset, uint64_t bytes, const Forget& forget) {
  for (auto at = ranges.lower_bound(offset); at != ranges.end() && at->first < offset + bytes; at = ranges.erase(at))
    forget(at->second);
}

}  // namespace

void RemoteMemory::attach(uint64_t offset, uint64_t bytes, char* at) {
  if (usable()) own_[offset] = {bytes, at, {}};
}

void RemoteMemory::detach(uint64_t offset, uint64_t bytes) {
  erase(own_, offset, bytes, [this](const Own& own) {
    if (!own.key.empty()) wire_->conceal(own.at);
  });
  erase(others_, offset, bytes, [this](const Other& other) { wire_->forget(other.handle); });
}

Status RemoteMemory::tell(uint64_t offset, std::vector<char>& out) {
  const auto found = containing(own_, offset);
  assert(found != own_.end());
  Own& own = found->second;
  if (own.key.empty()) {
    const Status status = wire_->expose(own.at, own.bytes, own.key);
    if (!status.ok())
      return Status::error("%s; this is for puts and gets of %s of shared memory", status.message().c_str(),
                           show_bytes(own.bytes).c_str());
  }
  const Told told = {found->first, own.bytes, reinterpret_cast<uint64_t>(own.at)};
  out.resize(sizeof told + own.key.size());
  std::memcpy(out.data(), &told, sizeof told);
  std::memcpy(out.data() + sizeof told, own.key.data(), own.key.size());
  return {};
}

void RemoteMemory::learn(int wire_rank, std::span<const char> told) {
  Told range;
  std::memcpy(&range, told.data(), sizeof range);
  if (others_.contains(range.offset)) return;  // two threads have requested it
  const int handle = wire_->import(wire_rank, range.address, {told.begin() + sizeof range, told.end()});
  if (handle >= 0) others_[range.offset] = {range.bytes, handle};
}

bool RemoteMemory::find(uint64_t offset, uint64_t bytes, Place& out) const {
  const auto found = containing(others_, offset);
  if (found == others_.end() || offset - found->first + bytes > found->second.bytes) return false;
  out = {found->second.handle, offset - found->first};
  return true;
}

}  // namespace hiroba
