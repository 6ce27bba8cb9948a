#include "collective/parts.hpp"

#include "base/debug/whereabouts.hpp"

namespace hiroba {

// ---- started operations --------------------------------------------------------------------------------------------

bool Started::done() const { return !running_->operations[0] || running_->operations[0]->done(); }

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

namespace {

// Describes the call in which the member was found instead; empty if none was found.
std::string find_difference(const Running& running, int rank) {
  const Sequence& s = running.sequence;
  const bool by_lane = s.lane >= 0 && static_cast<int32_t>(running.lanes->calls(s.lane, rank) - s.lane_calls) > 0;
  std::string out = running.log->difference(rank, s.name);
  if (out.empty() && by_lane && !running.log->has_begun(rank, s.name, s.number))
    out = format("rank %d is in %s, rank %d is in %s", rank, running.lanes->name(s.lane, rank, s.lane_calls + 1),
                 running.rank, s.what);
  return out;
}

// Asks the awaited ranks, and `another` one (-1: none), if they are in a barrier instead; returns the difference if one
// has answered so. Not for polls: a program that does not wait may go on without this operation.
std::string ask(Running& running, int another) {
  const RankBoard& self = running.board->rank(running.rank);
  if (!running.inquiry || self.waiting.load(std::memory_order_relaxed) == 0) return {};
  for (size_t i = 0; i < running.count.load(std::memory_order_acquire); ++i)
    if (const auto& operation = running.operations[i]; operation && !operation->done() && operation->awaited() >= 0)
      running.questions->ask(operation->awaited(), *running.inquiry);
  if (another >= 0) running.questions->ask(another, *running.inquiry);
  const std::string other = running.questions->answered(running.inquiry->subject);
  if (other.empty()) return {};
  return format("%s, rank %d is in %s%s", other.c_str(), running.rank, running.what.c_str(),
                (running.place.empty() ? own_call_place() : " at " + running.place).c_str());
}

}  // namespace

Status Started::agrees() const {
  Running& now = *running_;
  if (!now.differs.ok()) return now.differs;
  const Sequence& s = now.sequence;
  std::string how;
  for (size_t i = 0; i < now.count.load(std::memory_order_acquire) && how.empty(); ++i) {
    const Other* const other = now.operations[i] ? now.operations[i]->other() : nullptr;
    if (other == nullptr) continue;
    how = find_difference(now, other->rank);
    if (how.empty())
      how = format("rank %d is in %s%s, rank %d is in %s%s", other->rank, other->what,
                   call_place(*now.board, other->rank, false).c_str(), now.rank, now.what.c_str(),
                   call_place(*now.board, now.rank, true).c_str());
  }
  const bool doubts = how.empty() && now.suspicion.grows(), looks = doubts && s.name != 0;
  const int member = looks ? now.log->next_look(s.me, s.team.count) : -1;
  if (member >= 0 && member != s.me) how = find_difference(now, s.team.rank(member));
  if (doubts && how.empty()) how = ask(now, member < 0 ? -1 : s.team.rank(member));
  if (how.empty()) return {};
  now.report->claim();
  return now.differs = Parcels::calls_differ(how);
}

// ---- starting ------------------------------------------------------------------------------------------------------

RunningPtr CollectiveParts::make(const Sequence& sequence) {
  auto out = std::make_shared<Running>();
  out->sequence = sequence, out->what = sequence.what, out->sequence.what = out->what.c_str();
  out->rank = world.rank, out->board = world.board, out->token = token;
  out->log = &log, out->lanes = &lanes, out->questions = &questions, out->report = &report;
  if (sequence.name != 0 && sequence.team.is_all(world.nranks)) out->inquiry = Questions::Inquiry{{0, sequence.number}};
  return out;
}

// If others reach this rank's blocks, taking the rest now costs as much as at the wait for it.
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
  if (token.use_count() > 1) return {};
  const uint64_t name = team.name();
  Status status = parcels.none_left(name, log.next(name), call);
  if (!status.ok()) report.claim();
  return status;
}

}  // namespace hiroba
