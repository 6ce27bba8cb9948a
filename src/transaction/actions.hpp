// Calls that the program has asked for at the end of a transaction, and the time that a transaction waits after it was
// undone.
//
// Owner: a Transaction, whose thread alone uses both. Actions run outside of the transaction, and may begin others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/wait.hpp"

namespace hiroba {

class TransactionActions {
 public:
  struct Action {
    void (*function)(void* argument);
    void* argument;
    size_t frees = 0;             // bytes of the argument, if it is an object that the function frees
    const void* place = nullptr;  // in the program, of that free
  };
  struct Savepoint {
    uint64_t commits, aborts;
  };

  void on_commit(const Action& action) { commits_.push_back(action); }
  void on_abort(const Action& action) { aborts_.push_back(action); }
  // Returns the action that frees one of these bytes; null if there is none.
  const Action* freed(uint64_t address, uint64_t bytes) const {
    const auto frees = [=](const Action& action) {
      const auto object = reinterpret_cast<uint64_t>(action.argument);
      return action.frees > 0 && address < object + action.frees && object < address + bytes;
    };
    const auto found = std::find_if(commits_.begin(), commits_.end(), frees);
    return found == commits_.end() ? nullptr : &*found;
  }
  void committed() { aborts_.clear(); }
  void run_committed() {
    if (commits_.empty()) return;
    std::vector<Action> actions = std::exchange(commits_, {});
    for (const Action& action : actions) action.function(action.argument);
    actions.clear();
    if (commits_.empty()) commits_.swap(actions);  // keeps the memory
  }
  void run_aborted() {
    commits_.clear();
    std::vector<Action> actions = std::exchange(aborts_, {});
    for (; !actions.empty(); actions.pop_back()) actions.back().function(actions.back().argument);
  }

  Savepoint save() const { return {commits_.size(), aborts_.size()}; }
  void undo(const Savepoint& to) {
    commits_.resize(to.commits);
    for (; aborts_.size() > to.aborts; aborts_.pop_back()) aborts_.back().function(aborts_.back().argument);
  }

 private:
  std::vector<Action> commits_, aborts_;
};

// Waits longer after each abort, for a random time: two transactions that abort each other then part.
class ConflictBackoff {
 public:
  void wait(uint64_t aborts) {
    if (aborts == 1) first_ = seconds_about_now();
    if (random_ == 0) random_ = reinterpret_cast<uintptr_t>(this) * 0x9e3779b97f4a7c15 | 1;
    random_ ^= random_ << 13, random_ ^= random_ >> 7, random_ ^= random_ << 17;
    for (uint64_t i = random_ % (uint64_t{16} << std::min<uint64_t>(aborts, 10)); i > 0; --i) cpu_relax();
    if (aborts > 2) Backoff::yield();
  }

  // Returns true if the transaction has been aborted for so long that it is to run alone: its attempts take long, as
  // those of other nodes on a machine with more ranks than cores, while others commit thousands of times.
  bool is_old(uint64_t aborts) const {
    constexpr double old = 0.5;
    constexpr uint64_t least = 4;
    return aborts >= least && seconds_about_now() - first_ > old;
  }

 private:
  uint64_t random_ = 0;
  double first_ = 0;  // time of the first abort
};

}  // namespace hiroba
