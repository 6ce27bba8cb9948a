// Questions of a rank that waits for long in an operation of all ranks, to the rank that it waits for: is that one in a
// barrier of all ranks that this one has not entered, and has it not begun this operation? Then neither wait can end,
// because the ranks have made their calls in different orders.
//
// Both numbers only grow, and the asked rank compares them while it is in a barrier, so a rank that is merely late is
// never accused, and a question stays right until that rank has begun the operation. A question and its answer are a
// message each; nothing is kept up to date for them before.
//
// Owner: Collective. ask() and answered() are thread-safe; answer() is for the thread that waits in a barrier.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "collective/plans/call_log.hpp"
#include "collective/team.hpp"
#include "collective/world.hpp"

namespace hiroba {

class Questions {
 public:
  // An operation of all ranks: a call in their lane, or an exchange.
  struct Subject {
    uint64_t by_lane, number;
  };
  struct Inquiry {
    Subject subject;
    std::vector<int> asked = {};  // these ranks
  };

  void listen(Transport& transport);
  // `barriers`: the number of barriers of all ranks that this rank has entered.
  void start(const World& world, const std::atomic<uint64_t>& barriers, const CallLog& log, const Members& all);
  // Asks that rank, unless it was asked before.
  void ask(int rank, Inquiry& inquiry) const;
  // Returns "rank 1 is in sms_barrier at main (x.c:7)" if that rank has answered so, else "".
  std::string answered(const Subject& subject) const;
  // Returns true if there are questions that were not compared with the barrier that this rank has entered last.
  bool any() const {
    return open_.load(std::memory_order_relaxed) != 0 &&
           compared_.load(std::memory_order_relaxed) != barriers_->load(std::memory_order_relaxed);
  }
  // Answers those from ranks whose calls differ. The others are compared again in the next barrier.
  void answer();
  // From now on the operations that this rank begins may depend on those that end, so it does not answer.
  void begins_by_itself() { by_itself_.store(true, std::memory_order_relaxed); }

 private:
  struct Question {
    Subject subject;
    uint64_t barriers;  // those that the rank which asks has entered
  };
  struct Answer {
    Subject subject;
    char text[256];
  };
  void keep(int source, const Question& question);
  void keep(const Answer& answer);
  void reply(int rank, const Subject& subject);
  void close(int rank);
  bool has_begun(const Subject& subject) const;

  const World* world_ = nullptr;
  const std::atomic<uint64_t>* barriers_ = nullptr;
  const CallLog* log_ = nullptr;
  const Members* all_ = nullptr;
  int on_question_ = 0, on_answer_ = 0;
  std::atomic<bool> answered_{false}, by_itself_{false};
  std::atomic<int> open_{0};                        // questions
  std::atomic<uint64_t> compared_{0};               // number of the barrier that all of them were compared with
  mutable SignalSafeLock lock_;                     // guards the next members
  std::vector<std::optional<Question>> questions_;  // by the rank that asks
  Answer answer_ = {};
};

}  // namespace hiroba
