#include "collective/plans/call_log.hpp"

#include <algorithm>
#include <mutex>

namespace hiroba {

struct CallLog::Entry {
  uint64_t sum;                         // checksum of the other fields; it differs while an entry is being written
  uint64_t team, number, last, digest;  // `last`: number of the last exchange that this call has begun
  uint32_t lane_calls;                  // calls in the lane before this one
  char text[148];                       // the call and its place

  uint64_t own_sum() const {
    return (digest ^ team * 3 ^ number * 5 ^ last * 7 ^ lane_calls * uint64_t{11}) + digest_of(text);
  }
  bool is_of(uint64_t name) const {
    return team == name && text[0] != '\0' && text[sizeof text - 1] == '\0' && sum == own_sum();
  }
};

// Computes FNV-1a on words, because each call compares names.
uint64_t CallLog::digest_of(const char* name) {
  constexpr uint64_t prime = 0x9e3779b97f4a7c15;
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t left = std::strlen(name); left > 0;) {
    uint64_t word = 0;
    const size_t part = std::min(left, sizeof word);
    std::memcpy(&word, name, part);
    hash = (hash ^ word) * prime;
    hash ^= hash >> 29;
    name += part, left -= part;
  }
  return hash;
}

void CallLog::start(const World& world, uint64_t offset, uint64_t stride) {
  static_assert(entries * sizeof(Entry) <= bytes);
  world_ = &world, offset_ = offset, stride_ = stride;
}

char* CallLog::own() const { return world_->base + offset_ + static_cast<uint64_t>(world_->rank) * stride_; }

Sequence CallLog::begin(const Team& team, uint64_t count, const Call& call, int lane, uint32_t lane_calls) {
  const uint64_t name = team.name();
  const std::lock_guard<SignalSafeLock> guard(lock_);  // continuations start operations in other threads
  Count& now = teams_[name];
  now.digest = (now.digest + digest_of(call.name)) * 0x9e3779b97f4a7c15 + 1;
  const Sequence out = {team, team.find(world_->rank), name, now.number, now.digest, call.name, lane, lane_calls};
  now.number += count;
  Entry& entry = reinterpret_cast<Entry*>(own())[written_++ % entries];
  entry.team = name, entry.number = out.number, entry.last = now.number - 1, entry.digest = out.digest;
  entry.lane_calls = lane_calls;
  call.write(entry.text);
  entry.text[sizeof entry.text - 1] = '\0';
  entry.sum = entry.own_sum();
  return out;
}

uint64_t CallLog::next(uint64_t team) const {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  const auto found = teams_.find(team);
  return found == teams_.end() ? 0 : found->second.number;
}

uint64_t CallLog::digest(uint64_t team) const {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  const auto found = teams_.find(team);
  return found == teams_.end() ? 0 : found->second.digest;
}

// Returns the entries in the order of their numbers.
std::vector<CallLog::Entry> CallLog::read(int rank, uint64_t team) const {
  constexpr size_t at_once = 16;  // one message each, so that no network reads memory of a rank that ends
  static_assert(at_once * sizeof(Entry) < 4000 && entries % at_once == 0);
  std::vector<Entry> out(entries);
  const uint64_t from = offset_ + static_cast<uint64_t>(rank) * stride_;
  for (size_t i = 0; i < entries; i += at_once)
    world_->transport->get(&out[i], rank, from + i * sizeof(Entry), at_once * sizeof(Entry));
  std::erase_if(out, [&](const Entry& entry) { return !entry.is_of(team); });
  std::sort(out.begin(), out.end(), [](const Entry& a, const Entry& b) { return a.number < b.number; });
  return out;
}

std::string CallLog::difference(int rank, uint64_t team) const {
  if (rank == world_->rank) return {};
  const std::vector<Entry> theirs = read(rank, team), mine = read(world_->rank, team);
  const uint64_t last = std::min(theirs.empty() ? 0 : theirs.back().number, mine.empty() ? 0 : mine.back().number);
  for (const Entry& own : mine)
    for (const Entry& other : theirs) {
      if (own.number != other.number || own.digest == other.digest) continue;
      const char* const verb = own.number < last ? "was" : "is";
      if (std::strcmp(own.text, other.text) == 0)
        return format("before %s, rank %d has made other calls than rank %d", own.text, rank, world_->rank);
      return format("rank %d %s in %s, rank %d %s in %s", rank, verb, other.text, world_->rank, verb, own.text);
    }
  return {};
}

std::string CallLog::exchange_after(int rank, const Team& team, uint32_t lane_calls) const {
  const uint64_t name = team.name(), number = next(name);
  for (const Entry& other : read(rank, name))
    if (other.number == number && other.lane_calls == lane_calls) return format("rank %d is in %s", rank, other.text);
  return {};
}

bool CallLog::has_begun(int rank, uint64_t team, uint64_t number) const {
  const std::vector<Entry> theirs = read(rank, team);
  return !theirs.empty() && theirs.back().last >= number;
}

int CallLog::next_look(int me, int members) const {
  constexpr double step = 0.01, pause = 2;
  const double now = seconds_now();
  const std::lock_guard<SignalSafeLock> guard(lock_);
  if (now < next_look_) return -1;
  turn_ = turn_ % members + 1;
  next_look_ = now + (turn_ < members ? step : pause + step * members);
  return (me + turn_) % members;
}

bool Suspicion::grows() {
  constexpr uint32_t without_clock = 256;  // more than the polls of a wait that spins
  constexpr double first = 0.2;
  const uint32_t polls = polls_.load(std::memory_order_relaxed);  // no count of each: an addition would slow the wait
  if (polls < without_clock) return polls_.store(polls + 1, std::memory_order_relaxed), false;
  const double now = seconds_about_now();
  if (begin_ == 0) begin_ = now;
  return now - begin_ >= first;
}

}  // namespace hiroba
