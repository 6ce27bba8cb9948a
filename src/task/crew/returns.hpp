// Collects the updates that a thread owes others for tasks that it has ended, because each update writes a cache line
// of theirs: nodes for the pools of other threads, and the number of ended tasks of a domain.
//
// Owner: a Worker; for its thread.
#pragma once

#include <utility>

#include "task/crew/pool.hpp"

namespace hiroba {

class Returns {
 public:
  void node(Task& task) {
    if (nodes_ > 0 && first_->pool != task.pool) flush();
    task.next = first_, first_ = &task;
    if (nodes_ == 0) last_ = &task;
    if (++nodes_ == most) flush();
  }
  void end_in(Domain& domain) {
    if (domain_ != &domain) flush();
    domain_ = &domain;
    if (++ends_ == most) flush();
  }
  void flush() {
    if (nodes_ > 0) first_->pool->give_back(*first_, *last_);
    first_ = nullptr, nodes_ = 0;
    if (ends_ == 0) return;
    domain_->ended.fetch_add(std::exchange(ends_, 0), std::memory_order_acq_rel);
    told_ = domain_;
  }
  // Returns the last domain updated since the last such call; null if none was.
  Domain* take_told() { return std::exchange(told_, nullptr); }

 private:
  static constexpr int most = 32;
  Task *first_ = nullptr, *last_ = nullptr;
  int nodes_ = 0;
  Domain *domain_ = nullptr, *told_ = nullptr;
  int64_t ends_ = 0;
};

}  // namespace hiroba
