#include "collective/parcels.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <mutex>

namespace hiroba {

void Parcels::listen(Transport& transport) {
  handler_ = transport.add_handler([](void* self, int source, const void* payload,
                                      size_t bytes) { static_cast<Parcels*>(self)->keep(source, payload, bytes); },
                                   this);
}

Parcels::Key::Key(uint64_t team_of, uint64_t number_of, const char* name) : team(team_of), number(number_of), what{} {
  std::strncpy(what, name, sizeof what - 1);
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
  constexpr size_t what_bytes = sizeof key_.what;
  const size_t data = size - what_bytes;
  const bool fits = more_ == nullptr ? data == bytes_ : data >= bytes_;
  if (!fits || std::memcmp(parcel, key_.what, what_bytes) != 0) return end(static_cast<int>(name_[2]), parcel), false;
  if (bytes_ > 0) std::memcpy(data_, parcel + what_bytes, bytes_);
  if (more_ != nullptr) more_->assign(parcel + what_bytes + bytes_, parcel + size);
  return true;
}

// Whether it came for the same operation of the same images, but they call it something else.
bool Parcels::Receive::is_of_other(const Name& name, const char* parcel) const {
  return name[0] == name_[0] && name[1] >> kind_bits == name_[1] >> kind_bits &&
         std::memcmp(parcel, key_.what, sizeof key_.what) != 0;
}

void Parcels::Receive::end(int source, const char* what) {
  if (!other_->found.load(std::memory_order_relaxed)) other_->stop(source, what);  // one is enough
}

void Parcels::keep(int source, const void* payload, size_t bytes) {
  Key key(0, 0, "");
  std::memcpy(&key, payload, sizeof key);
  const char* const parcel = static_cast<const char*>(payload) + offsetof(Key, what);
  const size_t size = bytes - offsetof(Key, what);
  const Name name = {key.team, key.number, static_cast<uint64_t>(source)};
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
  receive.here_.store(true, std::memory_order_release);  // from here on its frame may go
}

Parcels::Receive Parcels::receive(int rank, const Key& key, void* data, size_t bytes, std::vector<char>* more) {
  return {this, {key.team, key.number, static_cast<uint64_t>(rank)}, key, data, bytes, more};
}

// False if the parcel has arrived already.
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

Status Parcels::none_left(const Key& next, const Call& call) const {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  const auto left = arrived_.lower_bound({next.team, 0, 0});
  if (left == arrived_.end() || left->first[0] != next.team || left->first[1] >= next.number) return {};
  return calls_differ(format("before %s, rank %d was in %s, and rank %d was not", call.text().c_str(),
                             static_cast<int>(left->first[2]), left->second.data(), world_->rank));
}

Status Parcels::calls_differ(const std::string& how) {
  return Status::error("collective calls differ: " + how +
                       "; every rank of the team must make the same calls in the same order with the same arguments");
}

}  // namespace hiroba
