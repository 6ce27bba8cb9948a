#include "coarray/mail.hpp"

#include <cstring>
#include <mutex>

#include "base/debug/whereabouts.hpp"
#include "coarray/image_sync.hpp"

namespace hiroba {

void Mail::listen(Transport& transport) {
  on_post_ = add_handler<&Mail::keep_post>(transport, this);
  on_pair_sync_ = add_handler<&Mail::keep_arrival>(transport, this);
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
  if (stamp.empty()) return world_->transport->send_after_puts(rank, on_post_, &tag, sizeof tag);
  char message[Transport::max_message];
  std::memcpy(message, &tag, sizeof tag);
  std::memcpy(message + sizeof tag, stamp.data(), stamp.size() * sizeof stamp[0]);
  world_->transport->send_after_puts(rank, on_post_, message, sizeof tag + stamp.size() * sizeof stamp[0]);
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
    if ((rank != ImageSync::any_rank && post->rank != rank) || (tag != ImageSync::any_tag && post->tag != tag))
      continue;
    from = post->rank;
    stamp = std::move(post->stamp);
    posts_.erase(post);
    return true;
  }
  return false;
}

Status Mail::wait(int rank, int64_t tag, const Call& call, int& from, Checker::Stamp& stamp) {
  const auto what = [&] {
    const std::string sender = rank == ImageSync::any_rank ? "anybody" : format("rank %d", rank);
    const std::string with = tag == ImageSync::any_tag ? "any tag" : format("tag %ld", tag);
    return format("%s for a post from %s with %s; %s", call.text().c_str(), sender.c_str(), with.c_str(),
                  queued().c_str());
  };
  return world_->await([&] { return take_post(rank, tag, from, stamp); }, what);
}

std::string Mail::queued() const {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  if (posts_.empty()) return "no post has come";
  std::string text = format("of the posts that have arrived, %zu match no wait:  ", posts_.size());
  constexpr size_t shown = 4;
  for (size_t i = 0; i < posts_.size() && i < shown; ++i)
    text += format("%sfrom rank %d with tag %ld", i == 0 ? "" : ", ", posts_[i].rank, posts_[i].tag);
  return text + (posts_.size() > shown ? ", ..." : "");
}

// ---- pair barriers ------------------------------------------------------------------------------------------------

void Mail::arrive(int rank, const Checker::Stamp& stamp) {
  ++pairs_[rank].sent;
  const char nothing = 0;
  const void* const payload = stamp.empty() ? static_cast<const void*>(&nothing) : stamp.data();
  world_->transport->send(rank, on_pair_sync_, payload, stamp.size() * sizeof(uint32_t));
}

void Mail::keep_arrival(int source, const void* payload, size_t bytes) {
  Pair& pair = pairs_[source];
  if (bytes > 0) {
    const std::lock_guard<SignalSafeLock> guard(lock_);
    pair.stamp.resize(bytes / sizeof(uint32_t));
    std::memcpy(pair.stamp.data(), payload, bytes);
  }
  pair.received.fetch_add(1, std::memory_order_release);
}

Status Mail::await_pair(int rank, const Call& call, Checker::Stamp& stamp) {
  const Pair& pair = pairs_[rank];
  const Status met = world_->await(
      [&] { return static_cast<int32_t>(pair.received.load(std::memory_order_acquire) - pair.sent) >= 0; },
      [&] { return format("%s: %s", call.text().c_str(), not_come(*world_->board, rank).c_str()); });
  const std::lock_guard<SignalSafeLock> guard(lock_);
  stamp = pair.stamp;
  return met;
}

}  // namespace hiroba
