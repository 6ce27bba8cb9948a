#include "collective/operations/planned_operations.hpp"

#include <algorithm>
#include <utility>

#include "collective/parts.hpp"

namespace hiroba {

void PlannedOperations::start() {
  all_.team = Team::all(parts_.world.nranks), all_.me = parts_.world.rank;
  if (parts_.lanes.reaches_all(all_.team)) parts_.lanes.take(all_.lane = 0);
}

Member PlannedOperations::member_of(const Members& members) const { return parts_.member_of(members.team, members.me); }

void PlannedOperations::begin_progress() { parts_.progress.begin_region(); }
void PlannedOperations::end_progress() { parts_.progress.end_region(); }

void PlannedOperations::settle(Plan& plan) const {
  for (Step& phase : plan.phases)
    if (phase.combine) phase.combine = parts_.settled(*phase.combine);
}

Status PlannedOperations::perform(Members& members, Plan plan, const Call& call) {
  parts_.uses.begin(call.name, plan.bytes);
  const Status status = perform_now(members, std::move(plan), call);
  parts_.uses.end();
  return status;
}

Sequence PlannedOperations::begin_sequence(const Members& members, const Call& call) {
  return parts_.log.begin(members.team, 1, call, members.lane, members.calls);
}

Status PlannedOperations::perform_now(Members& members, Plan plan, const Call& call) {
  settle(plan);
  if (plan.phases.size() == 1 && parts_.lanes.fits(members, plan.phases[0])) {
    std::vector<char> room(plan.room);
    plan.lend(room.data());
    parts_.explanation.note(call.name, plan.phases[0].whole, "calls by a lane");
    return parts_.lanes.exchange(members, plan.phases[0], call);
  }
  HIROBA_TRY(parts_.none_left(members.team, call));
  return parts_.finish(parts_.begin_exchange(begin_sequence(members, call), std::move(plan)), call);
}

Status PlannedOperations::start(Members& members, Plan plan, const Call& call, Started& out) {
  parts_.uses.begin(call.name, plan.bytes);
  parts_.uses.end();
  settle(plan);
  if (plan.phases.size() == 1 && parts_.lanes.fits(members, plan.phases[0])) {
    parts_.explanation.note(call.name, plan.phases[0].whole, "calls by a lane");
    const RunningPtr running = parts_.make({members.team, members.me, 0, 0, 0, call.name});
    prepare(*running, std::move(plan));
    const uint32_t number = Lanes::begin(members);
    out = parts_.begin(running, [&] { return parts_.lanes.exchange(running, members, number); });
    return {};  // other ranks need nothing more from this rank
  }
  out = parts_.begin_exchange(begin_sequence(members, call), std::move(plan));
  return parts_.carry_on(out, members.team);
}

namespace {

Operation call_after(RunningPtr running, void (*function)(void*), void* context) {
  co_await Until([&] { return Started(running).done(); });
  running.reset();
  function(context);
}

}  // namespace

Status PlannedOperations::then(const Started& started, void (*function)(void*), void* context) {
  parts_.operations.start([&] { return call_after(started.running(), function, context); });
  return parts_.progress.wake();
}

namespace {

struct Choice {
  int color, key, member;
};

}  // namespace

Status PlannedOperations::split(Members& parent, int color, int key, std::unique_ptr<Members>& out, const Call& call) {
  const Choice mine = {color, key, parent.me};
  std::vector<Choice> all(static_cast<size_t>(parent.team.count));
  HIROBA_TRY(perform(parent, plan_allgather(member_of(parent), &mine, all.data(), sizeof mine), call));
  std::erase_if(all, [&](const Choice& other) { return color < 0 || other.color != color; });
  std::sort(all.begin(), all.end(),
            [](const Choice& a, const Choice& b) { return std::pair(a.key, a.member) < std::pair(b.key, b.member); });
  auto members = std::make_unique<Members>();
  for (const Choice& other : all) members->table.push_back(parent.team.rank(other.member));
  members->team.table = members->table.data(), members->team.count = static_cast<int>(members->table.size());
  members->me = members->team.find(parts_.world.rank);
  HIROBA_TRY(agree_on_lane(parent, *members, call));
  if (color >= 0) out = std::move(members);
  return {};
}

// Chooses the lowest lane that all members of the parent have free, and a call number that none of them has reached in
// it.
Status PlannedOperations::agree_on_lane(Members& parent, Members& members, const Call& call) {
  Combine both, most;
  HIROBA_TRY(Combine::make(Type::uint32, Op::bit_and, both));
  HIROBA_TRY(Combine::make(Type::uint32, Op::max, most));
  const Member member = member_of(parent);
  uint32_t free = parts_.lanes.reaches_all(members.team) ? parts_.lanes.free() : 0;
  HIROBA_TRY(perform(parent, plan_allreduce(member, nullptr, &free, 1, both), call));
  if (free == 0) return {};
  const int lane = __builtin_ctz(free);
  uint32_t calls = parts_.lanes.calls(lane, parts_.world.rank);
  HIROBA_TRY(perform(parent, plan_allreduce(member, nullptr, &calls, 1, most), call));
  if (members.team.count > 0) {
    members.lane = lane;
    parts_.lanes.open(members, calls);
  }
  return parts_.teams.barrier(parent.team, call);  // no rank uses the lane before all have opened it
}

Status PlannedOperations::agree(Members& members, const Call& call) {
  if (members.lane >= 0) HIROBA_TRY(parts_.lanes.agree(members));
  return parts_.none_left(members.team, call);
}

Status PlannedOperations::last_barrier(const char* call, uint64_t tag) {
  const uint64_t team = all_.team.name(), mine = parts_.log.digest(team);
  std::vector<uint64_t> digests(static_cast<size_t>(all_.team.count));
  HIROBA_TRY(parts_.barriers.with_words(call, tag, mine, digests));
  const auto other = std::find_if(digests.begin(), digests.end(), [&](uint64_t digest) { return digest != mine; });
  if (other == digests.end()) return agree(all_, {call, ""});
  const auto rank = static_cast<int>(other - digests.begin());
  const std::string how = parts_.log.difference(rank, team);
  return Parcels::calls_differ(
      !how.empty() ? how : format("before %s, rank %d has made other calls than rank %d", call, rank, all_.me));
}

void PlannedOperations::release(Members& members) {
  if (members.lane > 0) parts_.lanes.release(members.lane);
}

}  // namespace hiroba
