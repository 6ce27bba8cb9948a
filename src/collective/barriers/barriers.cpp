#include "collective/barriers/barriers.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/debug/whereabouts.hpp"
#include "base/record/record.hpp"
#include "base/tables/phrases.hpp"

namespace hiroba {

void Barriers::start(const World& world, bool measure) {
  world_ = &world, measure_ = measure;
  words_.resize(static_cast<size_t>(world.nranks));
  waits_.for_rank.resize(static_cast<size_t>(world.nranks));
}

// Computes FNV-1a.
uint64_t Barriers::tag_of(const char* call) {
  uint64_t hash = 0xcbf29ce484222325;
  for (; *call != '\0'; ++call) hash = (hash ^ static_cast<unsigned char>(*call)) * 0x100000001b3;
  return hash;
}

// Fails if a split barrier is under way.
Status Barriers::none_between(const char* call) const {
  if (split_ == nullptr) return {};
  return Status::error("%s after %s and before its end; wait for that first", call, split_);
}

Status Barriers::come(const char* call) {
  HIROBA_TRY(none_between(call));
  RankBoard& self = world_->board->rank(world_->rank);
  self.show(call);
  entered_.store(entered_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  const uint64_t calls = self.calls.fetch_add(1, std::memory_order_relaxed) + 1;
  if (measure_) self.came[calls % 2].store(seconds_now(), std::memory_order_relaxed);
  return {};
}

// Attributes a finished wait for all other ranks to the rank that came last to the same call. Ranks of other machines
// have boards of their own.
void Barriers::note_wait(const char* call, double begin, const std::span<const int>* others) {
  Board& board = *world_->board;
  const double end = seconds_now(), seconds = end - begin;
  waits_.seconds += seconds;
  const size_t turn = board.rank(world_->rank).calls.load(std::memory_order_relaxed) % 2;
  int last = world_->rank;
  const auto came = [&](int rank) { return board.rank(rank).came[turn].load(std::memory_order_relaxed); };
  const auto compare = [&](int r) {
    if (came(r) > came(last)) last = r;
  };
  if (others != nullptr) std::for_each(others->begin(), others->end(), compare);
  for (int r = 0; others == nullptr && r < world_->nranks; ++r) compare(r);
  waits_.for_rank[last] += seconds;
  if (!recording()) return;
  const bool sees_all = others == nullptr && world_->job.ranks_here() == world_->nranks;
  note_barrier(call, begin, end, last, sees_all ? came(last) : 0);
}

template <typename Wait>
Status Barriers::wait_for_others(const char* call, const Wait& wait, const std::span<const int>* others) {
  const BlockedOnBoard blocked(world_->board->rank(world_->rank));
  const double begin = measure_ ? seconds_now() : 0;
  waits_since_ = 0;
  waiting_.store(pthread_self(), std::memory_order_relaxed);
  Status status = wait();
  waiting_.store({}, std::memory_order_relaxed);
  if (measure_) note_wait(call, begin, others);
  return status;
}

void Barriers::tell_long_wait() {
  constexpr double long_wait = 1;
  const double now = seconds_about_now();
  if (waits_since_ == 0) waits_since_ = now;
  else if (now - waits_since_ > long_wait) show_interpreted_place(world_->board->rank(world_->rank));
}

template <typename Wait>
Status Barriers::enter(const char* call, const Wait& wait, const std::span<const int>* others) {
  pthread_t nobody{};
  if (!thread_.compare_exchange_strong(nobody, pthread_self()))
    return Status::error("%s in two threads of this rank at once; collective calls are for one thread: %s", call,
                         phrases().one_thread);
  HIROBA_TRY(come(call));
  const Status status = wait_for_others(call, wait, others);
  thread_.store({});
  return status;
}

Status Barriers::with_words(const char* call, uint64_t tag, uint64_t word, std::span<uint64_t> words) {
  return enter(call, [&] { return world_->transport->barriers().barrier(tag, word, words); });
}

Status Barriers::with_words(const char* call, uint64_t word, std::span<uint64_t> words) {
  return with_words(call, tag_of(call), word, words);
}

Status Barriers::all(const char* call, uint64_t tag) { return with_words(call, tag, 0, words_); }
Status Barriers::all(const char* call) { return all(call, tag_of(call)); }

Status Barriers::start_split(const char* call, uint64_t tag) {
  HIROBA_TRY(come(call));
  world_->transport->barriers().start_barrier(tag, 0);
  split_ = call;
  return {};
}

Status Barriers::end_split() {
  assert(split_ != nullptr);
  const char* const call = std::exchange(split_, nullptr);
  return wait_for_others(call, [&] { return world_->transport->barriers().end_barrier(words_); });
}

Status Barriers::some(const char* call, std::span<const int> others) {
  return enter(call, [&] { return world_->transport->barriers().group_barrier(tag_of(call), others); }, &others);
}

}  // namespace hiroba
