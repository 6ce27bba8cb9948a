#include "collective/operations/team_operations.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/record/record.hpp"
#include "base/wait.hpp"
#include "collective/parts.hpp"

namespace hiroba {

void TeamOperations::start() {
  all_.team = Team::all(parts_.world.nranks), all_.me = parts_.world.rank;
  if (parts_.lanes.reaches_all(all_.team)) parts_.lanes.take(all_.lane = Lanes::of_all);
}

// ---- teams ---------------------------------------------------------------------------------------------------------

Members& TeamOperations::members_of(const Team& team, Members& other) {
  if (team.is_all(parts_.world.nranks)) return all_;
  other.team = team, other.me = team.find(parts_.world.rank);
  return other;
}

Member TeamOperations::member_of(const Members& members) const {
  const Settings& settings = parts_.settings;
  return {members.me, members.team.count, settings.tuning.sliced, settings.tuning.tree_ranks, settings.reproducible};
}

namespace {

struct Choice {
  int color, key, member;
};

}  // namespace

Status TeamOperations::split(Members& parent, int color, int key, std::unique_ptr<Members>& out, const Call& call) {
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
Status TeamOperations::agree_on_lane(Members& parent, Members& members, const Call& call) {
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
  return barrier(parent.team, call);  // no rank uses the lane before all have opened it
}

Status TeamOperations::agree(Members& members, const Call& call) {
  if (members.lane >= 0) HIROBA_TRY(parts_.lanes.agree(members));
  return parts_.none_left(members.team, call);
}

Status TeamOperations::last_barrier(const char* call, uint64_t tag) {
  const uint64_t team = all_.team.name(), mine = parts_.log.digest(team);
  std::vector<uint64_t> digests(static_cast<size_t>(all_.team.count));
  HIROBA_TRY(parts_.barriers.with_words(call, tag, mine, digests));
  const auto other = std::find_if(digests.begin(), digests.end(), [&](uint64_t digest) { return digest != mine; });
  if (other == digests.end()) return agree(all_, {call, ""});
  const auto rank = static_cast<int>(other - digests.begin());
  parts_.report.claim();
  const std::string how = parts_.log.difference(rank, team);
  return Parcels::calls_differ(
      !how.empty() ? how : format("before %s, rank %d has made other calls than rank %d", call, rank, all_.me));
}

void TeamOperations::release(Members& members) {
  if (members.lane > 0) parts_.lanes.release(members.lane);
}

// ---- operations ----------------------------------------------------------------------------------------------------

bool TeamOperations::goes_by_lane(const Members& members, Plan& plan) const {
  for (Step& phase : plan.phases)
    if (phase.combine && parts_.settings.reproducible) phase.combine->make_exact();
  return plan.phases.size() == 1 && parts_.lanes.fits(members, plan.phases[0]);
}

namespace {

// Gives the operation its plan and the memory that the plan needs.
void prepare(Running& running, Plan plan) {
  if (plan.copied > 0) {
    Blocks& give = plan.phases[0].give;
    running.data.assign(give.base, give.base + plan.copied);
    give.base = running.data.data();
  } else if (plan.room > 0) {
    running.data.resize(plan.room);
    plan.lend(running.data.data());
  }
  running.phases = std::move(plan.phases);
}

}  // namespace

Started TeamOperations::begin_exchange(const Members& members, Plan plan, const Call& call) {
  const RunningPtr running = parts_.make(parts_.log.begin(members.team, 1, call, members.lane, members.calls));
  running->place = call.place, running->way = plan.way;
  prepare(*running, std::move(plan));
  return parts_.begin(running, [&] { return parts_.exchange.run(running); });
}

namespace {

constexpr const char* by_lane = "by a lane";

const char* way_of(const Started& started) {
  const char* const way = started.running()->way.load();
  return way == nullptr ? "in blocks" : way;  // this rank gives nothing
}

}  // namespace

Status TeamOperations::perform(Members& members, Plan plan, const Call& call) {
  const size_t bytes = plan.bytes;
  const double begin = parts_.settings.measure ? seconds_now() : 0;
  const char* way = by_lane;
  Status status;
  if (goes_by_lane(members, plan)) {
    std::vector<char> room(plan.room);
    plan.lend(room.data());
    status = parts_.lanes.exchange(members, plan.phases[0], call);
  } else if (status = parts_.none_left(members.team, call); status.ok()) {
    const Started started = begin_exchange(members, std::move(plan), call);
    status = parts_.finish(started, call);
    way = way_of(started);
  }
  if (!parts_.settings.measure) return status;
  const double end = seconds_now();
  parts_.barriers.add_wait(end - begin);
  if (recording()) note_operation(call.name, call.place, bytes, way, begin, end);
  return status;
}

Status TeamOperations::start(Members& members, Plan plan, const Call& call, Started& out) {
  const size_t bytes = plan.bytes;
  const auto note = [&](const char* way) {
    if (!parts_.settings.measure || !recording()) return;
    const double now = seconds_now();
    note_operation(call.name, call.place, bytes, way, now, now);
  };
  if (goes_by_lane(members, plan)) {
    note(by_lane);
    const RunningPtr running = parts_.make({members.team, members.me, 0, 0, 0, call.name});
    running->place = call.place;
    prepare(*running, std::move(plan));
    const uint32_t number = Lanes::begin(members);
    if (members.lane == Lanes::of_all) running->inquiry = Questions::Inquiry{{1, number}};
    out = parts_.begin(running, [&] { return parts_.lanes.exchange(running, members, number); });
    return {};  // other ranks need nothing more from this rank
  }
  out = begin_exchange(members, std::move(plan), call);
  note(way_of(out));
  return parts_.carry_on(out, members.team);
}

namespace {

Operation call_after(RunningPtr running, void (*function)(void*), void* context) {
  co_await Until([&] { return Started(running).done(); });
  running.reset();
  function(context);
}

}  // namespace

Status TeamOperations::then(const Started& started, void (*function)(void*), void* context) {
  parts_.questions.begins_by_itself();
  parts_.operations.start([&] { return call_after(started.running(), function, context); });
  return parts_.progress.wake();
}

Status TeamOperations::reduce(const Team& team, char* data, int64_t count, const Combine& combine, const Call& call) {
  if (team.count == 1) return combine.alone(data, count), Status();
  const RecordedCall recorded = RecordedCall::at(call.place);
  if (count == 1 && combine.element() <= sizeof(uint64_t) && team.is_all(parts_.world.nranks))
    return reduce_word(data, combine, call);
  Members other;
  Members& members = members_of(team, other);
  return perform(members, plan_allreduce(member_of(members), nullptr, data, static_cast<size_t>(count), combine), call);
}

// Combines one word of each rank, by one barrier.
Status TeamOperations::reduce_word(char* data, Combine combine, const Call& call) {
  if (parts_.settings.reproducible) combine.make_exact();
  uint64_t word = 0;
  std::memcpy(&word, data, combine.element());
  std::vector<uint64_t> words(static_cast<size_t>(parts_.world.nranks));
  HIROBA_TRY(parts_.barriers.with_words(call.name, word, words));
  std::vector<const char*> pieces;
  for (const uint64_t& one : words) pieces.push_back(reinterpret_cast<const char*>(&one));
  combine.all(data, pieces, combine.element());
  return {};
}

Status TeamOperations::broadcast(const Team& team, int root, char* data, size_t bytes, const Call& call) {
  if (team.count == 1) return {};
  Members other;
  Members& members = members_of(team, other);
  return perform(members, plan_bcast(member_of(members), root, data, bytes), call);
}

Status TeamOperations::gather(const char* call, std::span<const char> mine, std::vector<std::vector<char>>& all) {
  std::vector<uint64_t> words(static_cast<size_t>(parts_.world.nranks));
  HIROBA_TRY(parts_.barriers.with_words(call, mine.size(), words));
  const std::vector<size_t> sizes(words.begin(), words.end());
  const BlockTable parts = BlockTable::one_after_another(sizes);
  std::vector<char> together(parts.at.back() + parts.bytes.back());
  Plan plan = plan_allgatherv(member_of(all_), mine.data(), mine.size(), together.data(), parts);
  HIROBA_TRY(perform(all_, std::move(plan), {call, ""}));
  all.clear();
  for (size_t r = 0; r < sizes.size(); ++r)
    all.emplace_back(together.begin() + static_cast<ptrdiff_t>(parts.at[r]),
                     together.begin() + static_cast<ptrdiff_t>(parts.at[r] + parts.bytes[r]));
  return {};
}

// ---- barriers ------------------------------------------------------------------------------------------------------

Status TeamOperations::barrier(const Team& team, const Call& call) {
  if (team.count == 1) return {};
  if (team.is_all(parts_.world.nranks)) return parts_.barriers.all(call.name, 0);
  HIROBA_TRY(parts_.none_left(team, call));
  return parts_.finish(begin_barrier(begin_sequence(team, 1, call), 0, {}, nullptr), call);
}

Status TeamOperations::barrier(const Team& team, const Call& call, Words& words, Join join) {
  if (team.count == 1) return {};
  HIROBA_TRY(parts_.none_left(team, call));
  const Started met = begin_barrier(begin_sequence(team, 1, {"a barrier", call.place}), 0, words, join);
  HIROBA_TRY(parts_.finish(met, call));
  words = met.words();
  return {};
}

Sequence TeamOperations::begin_sequence(const Team& team, uint64_t barriers, const Call& call) {
  const bool has_lane = team.is_all(parts_.world.nranks);
  return parts_.log.begin(team, barriers, call, has_lane ? all_.lane : -1, all_.calls);
}

Started TeamOperations::begin_barrier(const Sequence& sequence, int which, const Words& words, Join join) {
  const RunningPtr running = parts_.make(sequence);
  running->sequence.number += static_cast<uint64_t>(which);
  running->words = words, running->join = join;
  return parts_.begin(running, [&] { return parts_.joined_barrier.run(running); });
}

Status TeamOperations::start_barrier(const Sequence& sequence, int which, const Words& words, Join join, Started& out) {
  out = begin_barrier(sequence, which, words, join);
  return parts_.carry_on(out, sequence.team);
}

}  // namespace hiroba
