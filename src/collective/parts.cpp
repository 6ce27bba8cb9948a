#include "collective/parts.hpp"

#include <mutex>

#include "base/whereabouts.hpp"

namespace hiroba {

// ---- what was started ----------------------------------------------------------------------------------------------

bool Started::done() const { return !running_->operations[0] || running_->operations[0]->done(); }

const char* Started::data() const { return running_->data.data(); }
const Words& Started::words() const { return running_->words; }

std::string Started::missing() const {
  for (size_t i = running_->count.load(std::memory_order_acquire); i-- > 0;)
    if (const auto& operation = running_->operations[i]; operation && !operation->done() && operation->awaited() >= 0)
      return not_come(*running_->board, operation->awaited());
  return "it is under way";
}

bool Started::uses(const void* begin, const void* end) const {
  for (const Step& step : running_->phases)
    for (const Blocks* blocks : {&step.give, &step.take})
      for (int i = 0; i < running_->sequence.team.count; ++i) {
        const size_t bytes = blocks->bytes_of(i);
        if (bytes > 0 && blocks->of(i) < end && begin < blocks->of(i) + bytes) return true;
      }
  return false;
}

Status Started::agrees() const {
  for (size_t i = 0; i < running_->count.load(std::memory_order_acquire); ++i) {
    if (!running_->operations[i]) continue;
    if (const Other* const other = running_->operations[i]->other(); other != nullptr) {
      const std::string here = call_place(*running_->board, running_->rank, true);
      return Parcels::calls_differ(format("rank %d is in %s%s, rank %d is in %s%s", other->rank, other->what,
                                          call_place(*running_->board, other->rank, false).c_str(), running_->rank,
                                          running_->what.c_str(), here.c_str()));
    }
  }
  return {};
}

// ---- starting ------------------------------------------------------------------------------------------------------

Sequence CollectiveParts::begin_sequence(const Team& team, uint64_t count, const char* what) {
  const std::lock_guard<SignalSafeLock> guard(numbers_lock);  // continuations start operations in other threads
  const uint64_t name = team.name(), number = numbers[name];
  numbers[name] += count;
  return {team, team.find(world.rank), name, number, what};
}

RunningPtr CollectiveParts::make(const Sequence& sequence, const char* what) const {
  auto out = std::make_shared<Running>();
  out->sequence = sequence, out->what = what, out->sequence.what = out->what.c_str();
  out->rank = world.rank, out->board = world.board, out->token = token;
  return out;
}

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

Started CollectiveParts::begin_exchange(const Team& team, Plan plan, const char* what) {
  explain(plan, what);
  const RunningPtr running = make(begin_sequence(team, 1, what), what);
  prepare(*running, std::move(plan));
  return begin_exchange(running);
}

Combine CollectiveParts::settled(Combine combine) const {
  if (settings.reproducible) combine.make_exact();
  return combine;
}

// Where others reach what this rank gives, it takes as much time to take the rest now as at the wait for it.
Status CollectiveParts::carry_on(const Started& started, const Team& team) {
  if (started.done()) return {};
  const bool others_wait = started.running()->stages || !lanes.reaches_all(team);
  return settings.progress.kind == Placement::Kind::thread && !others_wait ? Status() : progress.wake();
}

Status CollectiveParts::finish(const Started& started, const Call& call) const {
  HIROBA_TRY(world.await([&] { return started.done() || !started.agrees().ok(); },
                         [&] { return call.text() + ": " + started.missing(); }));
  return started.agrees();
}

Status CollectiveParts::none_left(const Team& team, const Call& call) {
  const std::lock_guard<SignalSafeLock> guard(numbers_lock);
  const uint64_t name = team.name();
  return token.use_count() > 1 ? Status() : parcels.none_left({name, numbers[name] << Parcels::kind_bits, ""}, call);
}

}  // namespace hiroba
