#include "collective/plans/questions.hpp"

#include <algorithm>
#include <mutex>

#include "base/debug/whereabouts.hpp"

namespace hiroba {

void Questions::listen(Transport& transport) {
  on_question_ = transport.add_handler(
      [](void* self, int source, const void* payload, size_t) {
        static_cast<Questions*>(self)->keep(source, *static_cast<const Question*>(payload));
      },
      this);
  on_answer_ =
      transport.add_handler([](void* self, int, const void* payload,
                               size_t) { static_cast<Questions*>(self)->keep(*static_cast<const Answer*>(payload)); },
                            this);
}

void Questions::start(const World& world, const std::atomic<uint64_t>& barriers, const CallLog& log,
                      const Members& all) {
  world_ = &world, barriers_ = &barriers, log_ = &log, all_ = &all;
  questions_.resize(static_cast<size_t>(world.nranks));
}

void Questions::keep(int source, const Question& question) {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  std::optional<Question>& kept = questions_[static_cast<size_t>(source)];
  open_.fetch_add(kept ? 0 : 1, std::memory_order_relaxed);
  kept = question;
  compared_.store(0, std::memory_order_relaxed);
}

void Questions::keep(const Answer& answer) {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  answer_ = answer;
  answered_.store(true, std::memory_order_relaxed);
}

// ---- the rank that waits in an operation ---------------------------------------------------------------------------

void Questions::ask(int rank, Inquiry& inquiry) const {
  if (rank == world_->rank || std::find(inquiry.asked.begin(), inquiry.asked.end(), rank) != inquiry.asked.end())
    return;
  inquiry.asked.push_back(rank);
  const Question question = {inquiry.subject, barriers_->load(std::memory_order_relaxed)};
  world_->transport->send(rank, on_question_, &question, sizeof question);
}

std::string Questions::answered(const Subject& subject) const {
  if (!answered_.load(std::memory_order_relaxed)) return {};
  const std::lock_guard<SignalSafeLock> guard(lock_);
  const bool same = answer_.subject.by_lane == subject.by_lane && answer_.subject.number == subject.number;
  return same ? answer_.text : "";
}

// ---- the rank that waits in a barrier ------------------------------------------------------------------------------

bool Questions::has_begun(const Subject& subject) const {
  if (subject.by_lane == 0) return log_->next(all_->team.name()) > subject.number;
  return static_cast<int32_t>(all_->calls - static_cast<uint32_t>(subject.number)) >= 0;
}

void Questions::answer() {
  compared_.store(barriers_->load(std::memory_order_relaxed), std::memory_order_relaxed);
  for (int rank = 0; rank < world_->nranks; ++rank) {
    std::optional<Question> question;
    {
      const std::lock_guard<SignalSafeLock> guard(lock_);
      question = questions_[static_cast<size_t>(rank)];
    }
    if (!question) continue;
    const bool begun = has_begun(question->subject) || by_itself_.load(std::memory_order_relaxed);
    const bool differs = !begun && barriers_->load(std::memory_order_relaxed) > question->barriers;
    if (differs) reply(rank, question->subject);
    if (begun || differs) close(rank);
  }
}

void Questions::reply(int rank, const Subject& subject) {
  RankBoard& self = world_->board->rank(world_->rank);
  show_call_place(self);
  Answer answer = {subject, ""};
  format("rank %d is in %s", world_->rank, self.where).copy(answer.text, sizeof answer.text - 1);
  world_->transport->send(rank, on_answer_, &answer, sizeof answer);
}

void Questions::close(int rank) {
  const std::lock_guard<SignalSafeLock> guard(lock_);
  questions_[static_cast<size_t>(rank)].reset();
  open_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace hiroba
