#include "coarray/mail.hpp"

#include <cassert>
#include <cstddef>
#include <cstring>
#include <mutex>

namespace hiroba {

void Mail::listen(Transport& transport) {
  transport.set_handler(
      on_post,
      [](void* self, int source, const void* payload, size_t bytes) {
        static_cast<Mail*>(self)->keep_post(source, payload, bytes);
      },
      this);
  transport.set_handler(
      on_pair_sync,
      [](void* self, int source, const void* payload, size_t bytes) {
        static_cast<Mail*>(self)->hear(source, payload, bytes);
      },
      this);
  transport.set_handler(
      on_parcel,
      [](void* self, int source, const void* payload, size_t bytes) {
        static_cast<Mail*>(self)->keep_parcel(source, payload, bytes);
      },
      this);
}

void Mail::start(const World& world) {
  world_ = &world;
  pairs_ = std::make_unique<Pair[]>(static_cast<size_t>(world.nranks));
}

// ---- posts ---------------------------------------------------------------------------------------------------------

void Mail::post(int rank, int64_t tag, const Checker::Stamp& stamp) {
  if (rank == world_->rank) {  // for another thread
    world_->transport->fence();
    const std::lock_guard<SignalSafeLock> guard(lock_);
    return posts_.push_back({rank, tag, stamp});
  }
  if (stamp.empty()) return world_->transport->send_after_puts(rank, on_post, &tag, sizeof tag);
  char message[Transport::max_message];
  std::memcpy(message, &tag, sizeof tag);
  std::memcpy(message + sizeof tag, stamp.data(), stamp.size() * sizeof stamp[0]);
  world_->transport->send_after_puts(rank, on_post, message, sizeof tag + stamp.size() * sizeof stamp[0]);
}

void Mail::keep_post(int source, const void* payload, size_t bytes) {
  Post post = {source, 0, Checker::Stamp((bytes - sizeof post.tag) / sizeof(uint32_t))};
  std::memcpy(&post.tag, payload, sizeof post.tag);
  if (!post.stamp.empty())
    std::memcpy(post.stamp.data(), static_cast<const char*>(payload) + sizeof post.tag, bytes - sizeof post.tag);
  const std::lock_guard<SignalSafeLock> guard(lock_);
  posts_.push_back(std::move(post));
}

bool Mail::take_post(int rank, int64_t tag, int& from, Checker::Stamp& stamp) {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  for (auto post = posts_.begin(); post != posts_.end(); ++post) {
    if ((rank != any_rank && post->rank != rank) || (tag != any_tag && post->tag != tag)) continue;
    from = post->rank;
    stamp = std::move(post->stamp);
    posts_.erase(post);
    return true;
  }
  return false;
}

Status Mail::wait(int rank, int64_t tag, const Call& call, int& from, Checker::Stamp& stamp) {
  const auto what = [&] {
    const std::string sender = rank == any_rank ? "anybody" : format("rank %d", rank);
    const std::string with = tag == any_tag ? "any tag" : format("tag %lld", static_cast<long long>(tag));
    return format("%s for a post from %s with %s; %s", call.text().c_str(), sender.c_str(), with.c_str(),
                  queued().c_str());
  };
  return world_->await([&] { return take_post(rank, tag, from, stamp); }, what);
}

std::string Mail::queued() const {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  if (posts_.empty()) return "no post has come";
  std::string text = format("of the posts that have come, %zu match no wait: ", posts_.size());
  constexpr size_t shown = 4;
  for (size_t i = 0; i < posts_.size() && i < shown; ++i)
    text += format("%sfrom rank %d with tag %lld", i == 0 ? "" : ", ", posts_[i].rank,
                   static_cast<long long>(posts_[i].tag));
  return text + (posts_.size() > shown ? ", ..." : "");
}

// ---- pairs ---------------------------------------------------------------------------------------------------------

void Mail::announce(int rank, const Checker::Stamp& stamp) {
  ++pairs_[static_cast<size_t>(rank)].told;
  const char nothing = 0;
  const void* const payload = stamp.empty() ? static_cast<const void*>(&nothing) : stamp.data();
  world_->transport->send(rank, on_pair_sync, payload, stamp.size() * sizeof(uint32_t));
}

void Mail::hear(int source, const void* payload, size_t bytes) {
  Pair& pair = pairs_[static_cast<size_t>(source)];
  if (bytes > 0) {
    const std::lock_guard<SignalSafeLock> guard(lock_);
    pair.stamp.resize(bytes / sizeof(uint32_t));
    std::memcpy(pair.stamp.data(), payload, bytes);
  }
  pair.heard.fetch_add(1, std::memory_order_release);
}

Status Mail::await_pair(int rank, const Call& call, Checker::Stamp& stamp) {
  const Pair& pair = pairs_[static_cast<size_t>(rank)];
  const Status met =
      world_->await([&] { return static_cast<int32_t>(pair.heard.load(std::memory_order_acquire) - pair.told) >= 0; },
                    [&] { return format("%s: %s", call.text().c_str(), world_->memory->absent(rank).c_str()); });
  const std::lock_guard<SignalSafeLock> guard(lock_);
  stamp = pair.stamp;
  return met;
}

// ---- parcels -------------------------------------------------------------------------------------------------------

Mail::Key::Key(uint64_t set_of, uint64_t number_of, const char* name) : set(set_of), number(number_of), what{} {
  std::strncpy(what, name, sizeof what - 1);
}

void Mail::send(int rank, const Key& key, const void* data, size_t bytes) {
  assert(bytes <= most_parcel && rank != world_->rank);
  char message[Transport::max_message];
  std::memcpy(message, &key, sizeof key);
  if (bytes > 0) std::memcpy(message + sizeof key, data, bytes);
  world_->transport->send(rank, on_parcel, message, sizeof key + bytes);
}

bool Mail::Parcel::fill(const char* parcel, size_t size) {
  constexpr size_t what_bytes = sizeof key_.what;
  if (size == what_bytes + bytes_ && std::memcmp(parcel, key_.what, what_bytes) == 0) {
    if (bytes_ > 0) std::memcpy(data_, parcel + what_bytes, bytes_);
    return true;
  }
  end(static_cast<int>(name_[2]), parcel);
  return false;
}

// Whether it came for the same operation of the same images, but they call it something else.
bool Mail::Parcel::is_of_other(const Name& name, const char* parcel) const {
  return name[0] == name_[0] && name[1] >> kind_bits == name_[1] >> kind_bits &&
         std::memcmp(parcel, key_.what, sizeof key_.what) != 0;
}

void Mail::Parcel::end(int source, const char* what) {
  if (other_->found.load(std::memory_order_relaxed)) return;  // one is enough
  other_->rank = source;
  std::memcpy(other_->what, what, sizeof other_->what);
  other_->found.store(true, std::memory_order_release);
}

// What waits for it goes on without the lock, because it sends parcels, and may wait for the next one.
void Mail::keep_parcel(int source, const void* payload, size_t bytes) {
  Key key(0, 0, "");
  std::memcpy(&key, payload, sizeof key);
  const char* const parcel = static_cast<const char*>(payload) + offsetof(Key, what);
  const size_t size = bytes - offsetof(Key, what);
  const Name name = {key.set, key.number, static_cast<uint64_t>(source)};
  std::coroutine_handle<> then;
  {
    const std::lock_guard<SignalSafeLock> guard(lock_);
    const auto found = expected_.find(name);
    if (found == expected_.end()) {
      for (auto& [_, waits] : expected_)
        if (waits->is_of_other(name, parcel)) waits->end(source, parcel);
      parcels_[name].assign(parcel, parcel + size);
      return;
    }
    if (!found->second->fill(parcel, size)) return;
    then = found->second->then_;
    expected_.erase(found);
  }
  then.resume();
}

Mail::Parcel Mail::parcel(int rank, const Key& key, void* data, size_t bytes) {
  return {this, {key.set, key.number, static_cast<uint64_t>(rank)}, key, data, bytes};
}

// False if it has come already.
bool Mail::expect(Parcel& parcel) {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  const auto found = parcels_.find(parcel.name_);
  if (found == parcels_.end()) {
    for (const auto& [name, bytes] : parcels_)
      if (parcel.is_of_other(name, bytes.data())) parcel.end(static_cast<int>(name[2]), bytes.data());
    expected_[parcel.name_] = &parcel;
    return true;
  }
  if (!parcel.fill(found->second.data(), found->second.size())) return true;
  parcels_.erase(found);
  return false;
}

Status Mail::none_left(const Key& next, const Call& call) const {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  const auto left = parcels_.lower_bound({next.set, 0, 0});
  if (left == parcels_.end() || left->first[0] != next.set || left->first[1] >= next.number) return {};
  return calls_differ(format("before %s, rank %d was in %s, and rank %d was not", call.text().c_str(),
                             static_cast<int>(left->first[2]), left->second.data(), world_->rank));
}

Status Mail::calls_differ(const std::string& how) {
  return Status::error("collective calls differ: " + how +
                       "; every image of the set must make the same calls in the same order with the same arguments");
}

}  // namespace hiroba
