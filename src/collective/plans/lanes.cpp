#include "collective/plans/lanes.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/debug/whereabouts.hpp"

namespace hiroba {

struct Lanes::Slot {
  alignas(pair_of_lines) std::atomic<uint32_t> call;  // number of the call that this rank has given data for
  char name[name_bytes];
  char data[most_bytes];
};

struct Lanes::Lane {
  // The latest call of each slot that this rank has finished.
  alignas(pair_of_lines) std::atomic<uint32_t> finished[slots];
  Slot slot[slots];
  char place[slots][place_bytes];  // of the calls in the program; only messages use it
};

Lanes::Name::Name(const char* of) {
  const uint64_t digest = CallLog::digest_of(of);
  char part[name_bytes - sizeof digest];
  CallName::shorten(of, part);
  std::memcpy(text, part, sizeof part);
  std::memcpy(text + sizeof part, &digest, sizeof digest);
}

Lanes::Lane& Lanes::lane(int lane, int rank) const {
  static_assert(sizeof(Lane) * most == bytes);
  return reinterpret_cast<Lane*>(world_->reach(rank, offset_ + static_cast<uint64_t>(rank) * stride_))[lane];
}

Lanes::Slot& Lanes::slot(const Members& members, int member, uint32_t call) const {
  return lane(members.lane, members.team.rank(member)).slot[call % slots];
}

char* Lanes::place(const Members& members, int member, uint32_t call) const {
  return lane(members.lane, members.team.rank(member)).place[call % slots];
}

std::string Lanes::text(const Members& members, int member, uint32_t call) const {
  const char *const name = slot(members, member, call).name, *const at = place(members, member, call);
  return *at == '\0' ? name : format("%s at %s", name, at);
}

uint32_t Lanes::calls(int number, int rank) const {
  uint32_t latest = 0;
  for (const Slot& slot : lane(number, rank).slot) latest = std::max(latest, slot.call.load(std::memory_order_relaxed));
  return latest;
}

const char* Lanes::name(int number, int rank, uint32_t call) const {
  return lane(number, rank).slot[call % slots].name;
}

void Lanes::open(Members& members, uint32_t calls) {
  take(members.lane);
  Lane& own = lane(members.lane, world_->rank);
  for (uint32_t i = 0; i < slots; ++i) {
    ++calls;
    std::memset(own.slot[calls % slots].name, 0, name_bytes);
    own.slot[calls % slots].call.store(calls, std::memory_order_relaxed);
    own.finished[calls % slots].store(calls, std::memory_order_release);
  }
  members.calls = members.compared = calls;
}

bool Lanes::reaches_all(const Team& team) const {
  for (int i = 0; i < team.count; ++i) {
    const int rank = team.rank(i);
    if (world_->reach(rank, offset_ + static_cast<uint64_t>(rank) * stride_) == nullptr) return false;
  }
  return true;
}

bool Lanes::fits(const Members& members, const Step& step) const {
  const size_t most_given = step.combine ? tuning_.lane_combined : tuning_.lane_copied;
  return members.lane >= 0 && step.whole > 0 && step.whole <= std::min(most_given, most_bytes);
}

// ---- the parts of a call -------------------------------------------------------------------------------------------

bool Lanes::can_write(const Members& members, int member, uint32_t call) const {
  const auto& finished = lane(members.lane, members.team.rank(member)).finished[call % slots];
  return static_cast<int32_t>(finished.load(std::memory_order_acquire) - (call - slots)) >= 0;
}

void Lanes::give(const Members& members, const Step& step, uint32_t call, const Name& name, const char* at) const {
  Slot& mine = slot(members, members.me, call);
  // The data first: what follows is in the line that the others poll, which they would take back in between.
  if (step.gives) std::memcpy(mine.data, step.give.base, step.whole);
  char* const shown = place(members, members.me, call);
  shown[std::string_view(at).copy(shown, place_bytes - 1)] = '\0';
  mine.call.store(call - 1, std::memory_order_relaxed);  // a late reader sees that the name changes
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(mine.name, name.text, name_bytes);
  mine.call.store(call, std::memory_order_release);
}

bool Lanes::has_given(const Members& members, int member, uint32_t call) const {
  return slot(members, member, call).call.load(std::memory_order_acquire) == call;
}

Status Lanes::find(const Members& members, const Step& step, int member, uint32_t call, const Name& name,
                   const char*& block) const {
  const Slot& theirs = slot(members, member, call);
  block = theirs.data + (step.same ? 0 : static_cast<size_t>(members.me) * step.take.bytes_of(member));
  if (std::memcmp(theirs.name, name.text, name_bytes) == 0) return {};
  const int other = members.team.rank(member);
  const auto where = [&](int of) {
    const int rank = members.team.rank(of);
    const std::string known = text(members, of, call);
    return *place(members, of, call) != '\0' ? known : known + call_place(*world_->board, rank, rank == world_->rank);
  };
  const std::string here = where(members.me);  // first, because the other one waits for it, too
  return Parcels::calls_differ(
      format("rank %d is in %s, rank %d is in %s", other, where(member).c_str(), world_->rank, here.c_str()));
}

// Compares a call in which this rank took nothing from the member, as a broadcast with two roots.
Status Lanes::same_call(const Members& members, int member, uint32_t call) const {
  const Slot &mine = slot(members, members.me, call), &theirs = slot(members, member, call);
  if (std::memcmp(theirs.name, mine.name, name_bytes) == 0) return {};
  return Parcels::calls_differ(format("rank %d was in %s, rank %d was in %s", members.team.rank(member),
                                      text(members, member, call).c_str(), world_->rank,
                                      text(members, members.me, call).c_str()));
}

// Compares calls of this rank that are not compared with all yet, as far as the others have made them. If a slot holds
// a later call, no name is left to compare: started operations do not wait for this.
Status Lanes::compare(Members& members, uint32_t last) const {
  for (; members.compared != last; ++members.compared) {
    const uint32_t call = members.compared + 1;
    const auto ahead = [&](int member) {
      return static_cast<int32_t>(slot(members, member, call).call.load(std::memory_order_acquire) - call);
    };
    const int own = ahead(members.me);
    if (own < 0) return {};
    for (int i = 0; own == 0 && i < members.team.count; ++i) {
      const int theirs = ahead(i);
      if (theirs < 0) return {};
      if (theirs != 0) continue;
      Status same = same_call(members, i, call);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (!same.ok() && ahead(i) == 0 && ahead(members.me) == 0) return same;  // no later call's name was read
    }
  }
  return {};
}

Status Lanes::agree(Members& members) const {
  HIROBA_TRY(compare(members, members.calls));
  for (int i = 0; i < members.team.count; ++i) {
    const int rank = members.team.rank(i);
    const auto more = static_cast<int32_t>(calls(members.lane, rank) - members.calls);
    if (more == 0) {
      HIROBA_TRY(same_call(members, i, members.calls));
      continue;
    }
    const Slot& last = more > 0 ? slot(members, i, members.calls + static_cast<uint32_t>(more))
                                : slot(members, members.me, members.calls);
    return Parcels::calls_differ(format("rank %d was in %s, and rank %d was not", more > 0 ? rank : world_->rank,
                                        last.name, more > 0 ? world_->rank : rank));
  }
  return {};
}

// `blocks`: those of members that give something, in the order of members.
void Lanes::finish(const Members& members, const Step& step, uint32_t call, std::span<const char* const> blocks) const {
  const char* const* block = blocks.data();
  for (int i = 0; i < members.team.count; ++i) {
    const size_t part = step.take.bytes_of(i);
    if (part == 0) continue;
    if (step.combine) {  // all parts are of equal length
      step.combine->all(step.take.base, blocks, part);
      break;
    }
    std::memcpy(step.take.of(i), *block++, part);
  }
  lane(members.lane, world_->rank).finished[call % slots].store(call, std::memory_order_release);
}

// ---- calls ---------------------------------------------------------------------------------------------------------

template <typename Done>
Status Lanes::await(const Members& members, int member, uint32_t call, const Call& text, const Done& done) const {
  if (done()) return {};
  const int rank = members.team.rank(member);
  Suspicion suspicion;
  Questions::Inquiry inquiry = {{1, call}};
  std::string other;  // the call of that rank instead
  const auto is_over = [&] {
    if (done()) return true;
    if (!suspicion.grows()) return false;
    const int look = log_->next_look(members.me, members.team.count);
    if (look >= 0) other = log_->exchange_after(rank, members.team, call - 1);
    if (members.lane == Lanes::of_all && other.empty()) {
      questions_->ask(rank, inquiry);
      if (look >= 0) questions_->ask(look, inquiry);
      other = questions_->answered(inquiry.subject);
    }
    return !other.empty();
  };
  HIROBA_TRY(world_->await(is_over, [&] { return text.text() + ": " + not_come(*world_->board, rank); }));
  if (other.empty()) return {};
  return Parcels::calls_differ(format("%s, rank %d is in %s%s", other.c_str(), world_->rank, text.text().c_str(),
                                      *text.place != '\0' ? "" : own_call_place().c_str()));
}

Status Lanes::exchange(Members& members, const Step& step, const Call& text) const {
  const uint32_t call = begin(members);
  const Name name(text.name);
  for (int i = 0; i < members.team.count; ++i)
    HIROBA_TRY(await(members, i, call, text, [&] { return can_write(members, i, call); }));
  // Compares several at once, because each is another core's cache line, and before a name is overwritten.
  if (call - members.compared > slots / 2) HIROBA_TRY(compare(members, call - 1));
  give(members, step, call, name, text.place);
  members.blocks.clear();
  for (int i = 0; i < members.team.count; ++i) {
    if (step.take.bytes_of(i) == 0) continue;
    HIROBA_TRY(await(members, i, call, text, [&] { return has_given(members, i, call); }));
    const char* block = nullptr;
    HIROBA_TRY(find(members, step, i, call, name, block));
    members.blocks.push_back(block);
  }
  finish(members, step, call, members.blocks);
  const bool from_all = members.blocks.size() == static_cast<size_t>(members.team.count);
  if (from_all && members.compared + 1 == call) members.compared = call;
  return {};
}

Operation Lanes::exchange(RunningPtr running, const Members& members, uint32_t call) const {
  const Step& step = running->phases[0];
  const Name name(running->sequence.what);
  Operation::promise_type& self = co_await OwnPromise();
  std::vector<const char*> blocks;
  for (int i = 0; i < members.team.count; ++i) {
    self.awaited.store(members.team.rank(i), std::memory_order_relaxed);
    co_await Until([&] { return can_write(members, i, call); });
  }
  give(members, step, call, name, "");
  for (int i = 0; i < members.team.count; ++i) {
    if (step.take.bytes_of(i) == 0) continue;
    self.awaited.store(members.team.rank(i), std::memory_order_relaxed);
    co_await Until([&] { return has_given(members, i, call); });
    const char* block = nullptr;
    if (const Status status = find(members, step, i, call, name, block); !status.ok()) {
      self.other.stop(members.team.rank(i), slot(members, i, call).name);
      co_await Until([] { return false; });
    }
    blocks.push_back(block);
  }
  finish(members, step, call, blocks);
  running.reset();
}

}  // namespace hiroba
