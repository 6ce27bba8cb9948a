// Part of the contract of this floor: synchronisation of images: of memory, of teams and pairs, and by posts. With
// option check each carries the clocks of the images (checker.hpp).
//
// Owner: Coarrays. sync_all() is collective over the team, sync_ranks() between ranks that name each other; one thread
// makes these calls. All others are thread-safe. All but post() block.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "collective/collective.hpp"

namespace hiroba {

struct CoarrayParts;

class ImageSync {
 public:
  static constexpr int64_t any_tag = INT64_MIN;
  static constexpr int any_rank = -1;

  explicit ImageSync(CoarrayParts& parts) : parts_(parts) {}

  Status sync_memory(const Call& call);
  Status sync_all(const Team& team, const Call& call);
  Status sync_at_end(const Call& call);  // sync_all() of all images that no other one matches
  Status sync_ranks(std::span<const int> ranks, const Call& call);
  Status post(int rank, int64_t tag, const Call& call);
  Status wait(int rank, int64_t tag, const Call& call, int& from);
  // Fences puts that only posts have counted: an atomic operation may transfer their order to a third image.
  void fence_posted();

  // Option check, for started barriers: release_order() returns words that release this image's accesses; acquire them
  // after the barrier has joined those of all. Without the option there are no words.
  Words release_order();
  void acquire_order(const Words& words);
  static void join_order(Words& into, std::span<const uint32_t> other);

 private:
  Status sync_team(const Team& team, const Call& call);

  CoarrayParts& parts_;
  std::atomic<bool> unfenced_{false};  // posts were sent whose puts are counted, not fenced
};

}  // namespace hiroba
