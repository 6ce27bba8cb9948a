#include "collective/plans/parcels.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <mutex>

namespace hiroba {

void Parcels::listen(Transport& transport) { handler_ = add_handler<&Parcels::keep>(transport, this); }

namespace {

// A stored parcel begins with the key's `digest` and `what`, followed by its data.
constexpr size_t digest_at = offsetof(Parcels::Key, digest), name_at = offsetof(Parcels::Key, what) - digest_at;
constexpr size_t head_bytes = sizeof(Parcels::Key) - digest_at;

}  // namespace

Parcels::Key::Key(uint64_t team_of, uint64_t number_of, uint64_t digest_of_calls, const char* name)
    : team(team_of), number(number_of), digest(digest_of_calls) {
  CallName::shorten(name, what);
}

size_t Parcels::most_bytes_to(int rank) const {
  const TwoSided* const messages = world_->reaches(rank) ? nullptr : world_->transport->two_sided();
  return messages == nullptr ? most_bytes : messages->eager_limit() - sizeof(Key);
}

void Parcels::send(int rank, const Key& key, std::span<const char> data, std::span<const char> more) {
  assert(data.size() + more.size() <= most_bytes_to(rank) && rank != world_->rank);
  char message[Transport::max_message];
  std::memcpy(message, &key, sizeof key);
  std::copy(data.begin(), data.end(), message + sizeof key);
  const size_t size = sizeof key + data.size();
  if (size + more.size() > sizeof message)
    return world_->transport->two_sided()->send(rank, handler_, {message, size}, more);
  std::copy(more.begin(), more.end(), message + size);
  world_->transport->send(rank, handler_, message, size + more.size());
}

bool Parcels::Receive::fill(const char* parcel, size_t size) {
  const size_t data = size - head_bytes;
  const bool fits = more_ == nullptr ? data == bytes_ : data >= bytes_;
  if (!fits || !is_same(parcel)) return end(static_cast<int>(name_[2]), parcel), false;
  if (bytes_ > 0) std::memcpy(data_, parcel + head_bytes, bytes_);
  if (more_ != nullptr) more_->assign(parcel + head_bytes + bytes_, parcel + size);
  return true;
}

bool Parcels::Receive::is_same(const char* parcel) const {
  return std::memcmp(parcel, &key_.digest, sizeof key_.digest) == 0;
}

// Returns true if the parcel belongs to the same operation of the same images under another name.
bool Parcels::Receive::is_of_other(const Name& name, const char* parcel) const {
  return name[0] == name_[0] && name[1] >> kind_bits == name_[1] >> kind_bits && !is_same(parcel);
}

void Parcels::Receive::end(int source, const char* parcel) {
  if (!other_->found.load(std::memory_order_relaxed)) other_->stop(source, parcel + name_at);  // the first one suffices
}

void Parcels::keep(int source, const void* payload, size_t bytes) {
  const char* const parcel = static_cast<const char*>(payload) + digest_at;
  const size_t size = bytes - digest_at;
  Name name = {0, 0, static_cast<uint64_t>(source)};
  static_assert(offsetof(Key, team) == 0 && offsetof(Key, number) == sizeof name[0]);
  std::memcpy(name.data(), payload, 2 * sizeof name[0]);
  const std::lock_guard<SignalSafeLock> guard(lock_);
  const auto found = expected_.find(name);
  if (found == expected_.end()) {
    for (auto& [_, waits] : expected_)
      if (waits->is_of_other(name, parcel)) waits->end(source, parcel);
    arrived_[name].assign(parcel, parcel + size);
    return;
  }
  Receive& receive = *found->second;
  if (!receive.fill(parcel, size)) return;
  expected_.erase(found);
  receive.here_.store(true, std::memory_order_release);  // its frame may be destroyed from here on
}

Parcels::Receive Parcels::receive(int rank, const Key& key, void* data, size_t bytes, std::vector<char>* more) {
  return {this, {key.team, key.number, static_cast<uint64_t>(rank)}, key, data, bytes, more};
}

// Returns false if the parcel has arrived already.
bool Parcels::expect(Receive& receive) {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  const auto found = arrived_.find(receive.name_);
  if (found == arrived_.end()) {
    for (const auto& [name, bytes] : arrived_)
      if (receive.is_of_other(name, bytes.data())) receive.end(static_cast<int>(name[2]), bytes.data());
    expected_[receive.name_] = &receive;
    return true;
  }
  if (!receive.fill(found->second.data(), found->second.size())) return true;
  arrived_.erase(found);
  return false;
}

Status Parcels::none_left(uint64_t team, uint64_t number, const Call& call) const {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  const auto left = arrived_.lower_bound({team, 0, 0});
  if (left == arrived_.end() || left->first[0] != team || left->first[1] >= number << kind_bits) return {};
  return calls_differ(format("before %s, rank %d was in %s, and rank %d was not", call.text().c_str(),
                             static_cast<int>(left->first[2]), left->second.data() + name_at, world_->rank));
}

Status Parcels::calls_differ(const std::string& how) {
  return Status::error("collective calls differ: " + how +
                       "; every rank of the team must make the same calls in the same order with the same arguments");
}

}  // namespace hiroba
