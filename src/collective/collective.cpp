#include "collective/collective.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/log.hpp"
#include "collective/lanes.hpp"
#include "collective/progress.hpp"
#include "collective/trees.hpp"
#include "collective/uses.hpp"

namespace hiroba {

// FNV-1a.
uint64_t Collective::tag_of(const char* call) {
  uint64_t hash = 0xcbf29ce484222325;
  for (; *call != '\0'; ++call) hash = (hash ^ static_cast<unsigned char>(*call)) * 0x100000001b3;
  return hash;
}

struct Collective::Parts {
  Operations operations;  // goes last: requests own some
  Requests requests;
  Parcels parcels;
  Trees trees;
  Exchange exchange;
  Lanes lanes;
  Explanation explanation;
  Uses uses;
  ProgressThread progress;
};

Collective::Collective() : parts_(std::make_unique<Parts>()) {}
Collective::~Collective() = default;

void Collective::listen(Transport& transport) { parts_->parcels.listen(transport); }

void Collective::start(const World& world, uint64_t scratch, uint64_t stride, const Settings& settings) {
  world_ = world;
  world_.rank = world.job.rank, world_.nranks = world.job.nranks;
  world_.spins = spins_for(world.job.ranks_here());
  world_.requests = &parts_->requests, world_.operations = &parts_->operations;
  scratch_ = scratch, stride_ = stride, settings_ = settings;
  words_.resize(static_cast<size_t>(world_.nranks));
  waits_.for_rank.resize(static_cast<size_t>(world_.nranks));
  parts_->requests.start(world_);
  parts_->parcels.start(world_);
  parts_->trees.start(parts_->parcels);
  const uint64_t lanes = scratch + arrivals_bytes, staging = lanes + Lanes::bytes;
  parts_->lanes.start(world_, settings.tuning, lanes, stride);
  parts_->exchange.start(world_, parts_->parcels, parts_->operations, parts_->explanation,
                         staging + static_cast<uint64_t>(world_.rank) * stride, scratch + scratch_bytes - staging);
  parts_->progress.start(world_, settings.progress);
  parts_->explanation.start(settings.explain && world_.rank == 0);
  parts_->uses.start(world_.rank == 0 ? settings.uses : "");
  all_.team = Team::all(world_.nranks), all_.me = world_.rank;
  if (parts_->lanes.reaches_all(all_.team)) parts_->lanes.take(all_.lane = 0);
}

Status Collective::stop() {
  parts_->progress.stop();
  for (const std::string& line : parts_->explanation.lines()) log_line("%s", line.c_str());
  return parts_->uses.write();
}

bool Collective::meantime(void* self) {
  const World& world = static_cast<Collective*>(self)->world_;
  if (world.operations == nullptr || !world.operations->any()) return false;
  const bool any = world.transport->progress();
  return world.operations->advance() || any;
}

void Collective::begin_progress() { parts_->progress.begin_region(); }
void Collective::end_progress() { parts_->progress.end_region(); }

const World& Collective::world() const { return world_; }
Requests& Collective::requests() { return parts_->requests; }

// ---- all ranks -----------------------------------------------------------------------------------------------------

// Every call for all ranks passes here: it is counted and named on the board. What the others call, the exchange
// compares.
Status Collective::come(const char* call) {
  if (split_ != nullptr)
    return Status::error(format("%s after %s and before its end; wait for that first", call, split_));
  RankBoard& self = world_.board->rank(world_.rank);
  std::strncpy(self.where, call, sizeof self.where - 1);
  const uint64_t calls = self.calls.fetch_add(1, std::memory_order_relaxed) + 1;
  if (settings_.measure) self.came[calls % 2].store(seconds_now(), std::memory_order_relaxed);
  return {};
}

// A wait for all other ranks has ended, so the one that came last to the same call was waited for. Ranks of other
// machines have boards of their own.
void Collective::note_wait(double seconds) {
  Board& board = *world_.board;
  waits_.seconds += seconds;
  const size_t call = board.rank(world_.rank).calls.load(std::memory_order_relaxed) % 2;
  int last = world_.rank;
  for (int r = 0; r < world_.nranks; ++r)
    if (board.rank(r).came[call].load(std::memory_order_relaxed) >
        board.rank(last).came[call].load(std::memory_order_relaxed))
      last = r;
  waits_.for_rank[static_cast<size_t>(last)] += seconds;
}

template <typename Wait>
Status Collective::wait_for_others(const Wait& wait) {
  std::atomic<uint32_t>& waiting = world_.board->rank(world_.rank).waiting;
  waiting.store(1, std::memory_order_relaxed);
  const double begin = settings_.measure || told_ ? seconds_now() : 0;
  Status status = wait();
  if (told_) told_(seconds_now() - begin);
  if (settings_.measure) note_wait(seconds_now() - begin);
  waiting.store(0, std::memory_order_relaxed);
  return status;
}

template <typename Wait>
Status Collective::enter(const char* call, const Wait& wait) {
  pthread_t nobody{};
  if (!thread_.compare_exchange_strong(nobody, pthread_self()))
    return Status::error(
        format("%s in two threads of this rank at once; collective calls are for one thread: put it "
               "outside of the parallel region, or under `omp master` with barriers of OpenMP around it",
               call));
  HIROBA_TRY(come(call));
  const Status status = wait_for_others(wait);
  thread_.store({});
  return status;
}

Status Collective::exchange(const char* call, uint64_t tag, uint64_t word, std::span<uint64_t> words) {
  return enter(call, [&] { return world_.transport->barrier(tag, word, words); });
}

Status Collective::exchange(const char* call, uint64_t word, std::span<uint64_t> words) {
  return exchange(call, tag_of(call), word, words);
}

Status Collective::barrier(const char* call, uint64_t tag) { return exchange(call, tag, 0, words_); }
Status Collective::barrier(const char* call) { return barrier(call, tag_of(call)); }

Status Collective::start_barrier(const char* call, uint64_t tag) {
  HIROBA_TRY(come(call));
  world_.transport->start_barrier(tag, 0);
  split_ = call;
  return {};
}

Status Collective::end_barrier() {
  assert(split_ != nullptr);
  split_ = nullptr;
  return wait_for_others([&] { return world_.transport->end_barrier(words_); });
}

Status Collective::group_barrier(const char* call, std::span<const int> others) {
  return enter(call, [&] { return world_.transport->group_barrier(tag_of(call), others); });
}

Status Collective::gather(const char* call, std::span<const char> mine, std::vector<std::vector<char>>& all) {
  HIROBA_TRY(exchange(call, mine.size(), words_));
  const std::vector<size_t> sizes(words_.begin(), words_.end());
  const BlockTable parts = BlockTable::one_after_another(sizes);
  std::vector<char> together(parts.at.back() + parts.bytes.back());
  HIROBA_TRY(perform(all_,
                     plan_allgatherv({world_.rank, world_.nranks}, mine.data(), mine.size(), together.data(), parts),
                     {call, ""}));
  all.clear();
  for (size_t r = 0; r < sizes.size(); ++r)
    all.emplace_back(together.begin() + static_cast<ptrdiff_t>(parts.at[r]),
                     together.begin() + static_cast<ptrdiff_t>(parts.at[r] + parts.bytes[r]));
  return {};
}

// ---- what is started -----------------------------------------------------------------------------------------------

bool Started::done() const { return !running_->operations[0] || running_->operations[0]->done(); }

const char* Started::data() const { return running_->data.data(); }
const Words& Started::words() const { return running_->words; }

std::string Started::missing() const {
  for (size_t i = running_->count.load(std::memory_order_acquire); i-- > 0;)
    if (const auto& operation = running_->operations[i]; operation && !operation->done() && operation->awaited() >= 0)
      return format("rank %d has not come", operation->awaited());
  return "it is under way";
}

Status Started::agrees() const {
  for (size_t i = 0; i < running_->count.load(std::memory_order_acquire); ++i) {
    if (!running_->operations[i]) continue;
    if (const Other* const other = running_->operations[i]->other(); other != nullptr)
      return Parcels::calls_differ(format("rank %d is in %s, rank %d is in %s", other->rank, other->what,
                                          running_->rank, running_->what.c_str()));
  }
  return {};
}

Sequence Collective::begin_sequence(const Team& team, uint64_t operations, const char* what) {
  const uint64_t name = team.name(), number = numbers_[name];
  numbers_[name] += operations;
  return {team, team.find(world_.rank), name, number, what};
}

RunningPtr Collective::make(const Sequence& sequence, const char* what) const {
  auto out = std::make_shared<Running>();
  out->sequence = sequence, out->what = what, out->sequence.what = out->what.c_str();
  out->rank = world_.rank, out->token = token_;
  return out;
}

template <typename Begin>
Started Collective::begin(const RunningPtr& running, const Begin& begin) {
  running->operations[0].emplace(parts_->operations.start(begin));
  return Started(running);
}

template <typename Begin>
Started Collective::by_tree(const RunningPtr& running, size_t bytes, const Begin& begin_tree) {
  parts_->explanation.note(running->what.c_str(), bytes, "calls along a tree");
  return begin(running, begin_tree);
}

Started Collective::start_barrier(const Sequence& sequence, int which, const Words& words, Join join) {
  const RunningPtr running = make(sequence, sequence.what);
  running->sequence.number += static_cast<uint64_t>(which);
  running->words = words, running->join = join;
  return begin(running, [&] { return parts_->trees.barrier(running); });
}

// Small data of many ranks goes along trees, in as many steps as the number of ranks has bits.
bool Collective::goes_by_tree(const Team& team, size_t bytes) const {
  return static_cast<size_t>(team.count) >= settings_.tuning.tree_ranks && bytes <= Parcels::most_bytes;
}

void Collective::apply_settings(Plan& plan) const {
  for (Step& phase : plan.phases)
    if (settings_.reproducible && phase.combine) phase.combine->make_exact();
}

// Gives it the memory that the plan needs.
void Collective::prepare(Running& running, Plan plan) {
  if (plan.copied > 0) {
    Blocks& give = plan.phases[0].give;
    running.data.assign(give.base, give.base + plan.copied);
    give.base = running.data.data();
  } else if (plan.room > 0) {
    running.data.resize(plan.room);
    plan.phases[0].take.base = running.data.data();
    if (plan.phases.size() > 1) plan.phases[1].give.base = running.data.data();
  }
  running.phases = std::move(plan.phases);
}

RunningPtr Collective::start_plan(const Team& team, Plan plan, const char* what) {
  const RunningPtr running = make(begin_sequence(team, 1, what), what);
  prepare(*running, std::move(plan));
  return running;
}

Started Collective::start_reduce(const Team& team, const char* data, int64_t count, const Combine& how,
                                 const char* what) {
  Combine combine = how;
  if (settings_.reproducible) combine.make_exact();
  const auto elements = static_cast<size_t>(count);
  const size_t bytes = combine.element() * elements;
  const RunningPtr running = make(begin_sequence(team, 1, what), what);
  running->data.assign(data, data + bytes), running->combine = combine;
  if (count == 0) return Started(running);
  if (goes_by_tree(team, bytes) && !combine.exact) return begin(running, [&] { return parts_->trees.reduce(running); });
  Plan plan = plan_allreduce({running->sequence.me, team.count}, nullptr, running->data.data(), elements, combine);
  if (plan.copied > 0) {  // others still read what is given when the result is there
    running->data.resize(2 * bytes);
    char* const result = running->data.data();
    std::memcpy(result + bytes, result, bytes);
    plan = plan_allreduce({running->sequence.me, team.count}, result + bytes, result, elements, combine);
  }
  running->phases = std::move(plan.phases);
  return begin(running, [&] { return parts_->exchange.run(running); });
}

Started Collective::start_broadcast(const Team& team, int root, const char* data, size_t bytes, const char* what) {
  const RunningPtr running = make(begin_sequence(team, 1, what), what);
  running->data.resize(bytes);
  if (team.rank(root) == world_.rank && bytes > 0) std::memcpy(running->data.data(), data, bytes);
  if (goes_by_tree(team, bytes)) return by_tree(running, bytes, [&] { return parts_->trees.broadcast(running, root); });
  running->phases = plan_bcast({running->sequence.me, team.count}, root, running->data.data(), bytes).phases;
  return begin(running, [&] { return parts_->exchange.run(running); });
}

Status Collective::finish(const Started& started, const Call& call) {
  HIROBA_TRY(world_.await([&] { return started.done() || !started.agrees().ok(); },
                          [&] { return call.text() + ": " + started.missing(); }));
  return started.agrees();
}

// Before the next operation: parcels that no operation has taken were for one that this rank was not in; or they are
// for something that was started and has not come so far.
Status Collective::none_left(const Team& team, const Call& call) {
  const uint64_t name = team.name();
  return token_.use_count() > 1 ? Status()
                                : parts_->parcels.none_left({name, numbers_[name] << Parcels::kind_bits, ""}, call);
}

// ---- teams ---------------------------------------------------------------------------------------------------------

Status Collective::barrier(const Team& team, const Call& call) {
  if (team.count == 1) return {};
  if (team.is_all(world_.nranks)) return exchange(call.name, 0, words_);
  HIROBA_TRY(none_left(team, call));
  return finish(start_barrier(begin_sequence(team, 1, call.name), 0, {}, nullptr), call);
}

Status Collective::barrier(const Team& team, const Call& call, Words& words, Join join) {
  if (team.count == 1) return {};
  HIROBA_TRY(none_left(team, call));
  const Started met = start_barrier(begin_sequence(team, 1, "a barrier"), 0, words, join);
  HIROBA_TRY(finish(met, call));
  words = met.words();
  return {};
}

Status Collective::reduce(const Team& team, char* data, int64_t count, const Combine& how, const Call& call) {
  if (team.count == 1) return {};
  Combine combine = how;
  if (settings_.reproducible) combine.make_exact();
  const size_t bytes = combine.element() * static_cast<size_t>(count);
  if (bytes <= sizeof(uint64_t) && count == 1 && team.is_all(world_.nranks)) return reduce_word(data, combine, call);
  HIROBA_TRY(none_left(team, call));
  if (goes_by_tree(team, bytes) && !combine.exact) {
    const Started reduced = start_reduce(team, data, count, combine, call.name);
    HIROBA_TRY(finish(reduced, call));
    std::memcpy(data, reduced.data(), bytes);
    return {};
  }
  const Member member = {team.find(world_.rank), team.count};
  return perform_on(team, plan_allreduce(member, nullptr, data, static_cast<size_t>(count), combine), call);
}

// A word of each rank in one exchange.
Status Collective::reduce_word(char* data, const Combine& combine, const Call& call) {
  uint64_t word = 0;
  std::memcpy(&word, data, combine.element());
  HIROBA_TRY(exchange(call.name, word, words_));
  std::vector<const char*> pieces;
  for (const uint64_t& one : words_) pieces.push_back(reinterpret_cast<const char*>(&one));
  combine.all(data, pieces, combine.element());
  return {};
}

Status Collective::broadcast(const Team& team, int root, char* data, size_t bytes, const Call& call) {
  if (team.count == 1) return {};
  HIROBA_TRY(none_left(team, call));
  if (goes_by_tree(team, bytes)) {
    const Started sent = start_broadcast(team, root, data, bytes, call.name);
    HIROBA_TRY(finish(sent, call));
    if (team.rank(root) != world_.rank && bytes > 0) std::memcpy(data, sent.data(), bytes);
    return {};
  }
  return perform_on(team, plan_bcast({team.find(world_.rank), team.count}, root, data, bytes), call);
}

// ---- any operation -------------------------------------------------------------------------------------------------

Status Collective::perform_on(const Team& team, Plan plan, const Call& call) {
  const RunningPtr running = start_plan(team, std::move(plan), call.name);
  return finish(begin(running, [&] { return parts_->exchange.run(running); }), call);
}

Status Collective::perform(Members& members, Plan plan, const Call& call) {
  parts_->uses.begin(call.name, plan.bytes);
  const Status status = perform_now(members, std::move(plan), call);
  parts_->uses.end();
  return status;
}

Status Collective::perform_now(Members& members, Plan plan, const Call& call) {
  apply_settings(plan);
  std::vector<char> room(plan.room);
  if (plan.room > 0 && plan.phases.size() == 1) plan.phases[0].take.base = room.data(), plan.room = 0;
  if (plan.phases.size() == 1 && parts_->lanes.fits(members, plan.phases[0])) {
    parts_->explanation.note(call.name, plan.phases[0].whole, "calls by a lane");
    return parts_->lanes.exchange(members, plan.phases[0], call);
  }
  return perform_on(members.team, std::move(plan), call);
}

Status Collective::start(Members& members, Plan plan, const char* what, Started& out) {
  parts_->uses.begin(what, plan.bytes);
  parts_->uses.end();
  apply_settings(plan);
  if (plan.phases.size() == 1 && parts_->lanes.fits(members, plan.phases[0])) {
    parts_->explanation.note(what, plan.phases[0].whole, "calls by a lane");
    const RunningPtr running = make({members.team, members.me, 0, 0, what}, what);
    prepare(*running, std::move(plan));
    const uint32_t call = Lanes::begin(members);
    out = begin(running, [&] { return parts_->lanes.exchange(running, members, call); });
    return {};  // others need nothing more of this rank
  }
  const RunningPtr running = start_plan(members.team, std::move(plan), what);
  out = begin(running, [&] { return parts_->exchange.run(running); });
  // Where others reach what this rank gives, it takes as much time to take the rest now as at the wait for it.
  const bool others_wait = running->stages || !parts_->lanes.reaches_all(members.team);
  if (out.done() || (settings_.progress.kind == Placement::Kind::thread && !others_wait)) return {};
  return parts_->progress.wake();
}

namespace {

Operation call_after(RunningPtr running, void (*function)(void*), void* context) {
  co_await Until([&] { return Started(running).done(); });
  running.reset();
  function(context);
}

}  // namespace

Status Collective::then(const Started& started, void (*function)(void*), void* context) {
  parts_->operations.start([&] { return call_after(started.running_, function, context); });
  return parts_->progress.wake();
}

namespace {

struct Choice {
  int color, key, rank;
};

}  // namespace

Status Collective::split(Members& parent, int color, int key, std::unique_ptr<Members>& out, const Call& call) {
  const Choice mine = {color, key, world_.rank};
  std::vector<Choice> all(static_cast<size_t>(parent.team.count));
  HIROBA_TRY(perform(parent, plan_allgather({parent.me, parent.team.count}, &mine, all.data(), sizeof mine), call));
  std::erase_if(all, [&](const Choice& other) { return color < 0 || other.color != color; });
  std::stable_sort(all.begin(), all.end(), [](const Choice& a, const Choice& b) { return a.key < b.key; });
  auto members = std::make_unique<Members>();
  for (const Choice& other : all) members->table.push_back(other.rank);
  members->team.table = members->table.data(), members->team.count = static_cast<int>(members->table.size());
  members->me = members->team.find(world_.rank);
  HIROBA_TRY(agree_on_lane(parent, *members, call));
  if (color >= 0) out = std::move(members);
  return {};
}

// The lowest lane that all members of the parent have free, and a number of calls that none of them has reached in it.
Status Collective::agree_on_lane(Members& parent, Members& members, const Call& call) {
  Combine both, most;
  HIROBA_TRY(Combine::make(Type::uint32, Op::bit_and, both));
  HIROBA_TRY(Combine::make(Type::uint32, Op::max, most));
  const Member member = {parent.me, parent.team.count};
  uint32_t free = parts_->lanes.reaches_all(members.team) ? parts_->lanes.free() : 0;
  HIROBA_TRY(perform(parent, plan_allreduce(member, nullptr, &free, 1, both), call));
  if (free == 0) return {};
  const int lane = __builtin_ctz(free);
  uint32_t calls = parts_->lanes.calls(lane);
  HIROBA_TRY(perform(parent, plan_allreduce(member, nullptr, &calls, 1, most), call));
  if (members.team.count > 0) {
    members.lane = lane;
    parts_->lanes.open(members, calls);
  }
  return barrier(parent.team, call);  // nobody uses it before all have opened it
}

void Collective::release(Members& members) {
  if (members.lane > 0) parts_->lanes.release(members.lane);
}

}  // namespace hiroba
