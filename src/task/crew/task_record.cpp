#include "task/crew/task_record.hpp"

#include <algorithm>

#include "base/wait.hpp"

namespace hiroba {

void TaskRecord::start(int threads, Observer* next) {
  next_ = next;
  of_worker_.resize(static_cast<size_t>(threads));
  chains_.resize(places);
}

void TaskRecord::Chain::add(SiteRecord* site, double more) {
  seconds += more, ++tasks, last = site;
  Part* least = &parts[0];
  for (Part& part : parts) {
    if (part.site == site) return void(part.seconds += more);
    if (part.seconds < least->seconds) least = &part;
  }
  if (more >= least->seconds) *least = {site, more};
}

TaskRecord::Chain TaskRecord::chain_of(const Task& task) {
  const size_t at = place_of(task);
  const std::lock_guard lock(guards_[at % guards]);
  const Place& place = chains_[at];
  return place.task == &task && place.serial == task.serial ? place.chain : Chain();
}

void TaskRecord::set_chain(const Task& task, const Chain& chain) {
  const size_t at = place_of(task);
  const std::lock_guard lock(guards_[at % guards]);
  chains_[at] = {&task, task.serial, chain};
}

void TaskRecord::released(const Task& task, const Task& by) {
  if (next_ != nullptr) next_->released(task, by);
  set_chain(task, chain_of(by));
}

void TaskRecord::began(int worker, const Task& task) {
  if (next_ != nullptr) next_->began(worker, task);
  of_worker_[static_cast<size_t>(worker)].bodies.push_back({seconds_now(), 0});
}

namespace {

SiteRecord* site_of_task(const Task& task) {
  static constexpr char copy[] = "copy";
  if (task.kind == Task::move) return site_of(SiteKind::copy, copy, 0, copy, "");
  const TaskLabel* const label = task.label;
  const bool placed = label != nullptr && label->place != nullptr;
  const char* const name = label != nullptr && label->name != nullptr ? label->name : "task";
  return site_of(SiteKind::task, label, 0, name, placed ? label->place : "");
}

}  // namespace

void TaskRecord::ended(int worker, const Task& task) {
  Worker& self = of_worker_[static_cast<size_t>(worker)];
  const double begin = self.bodies.back().begin, end = seconds_now(), own = end - begin - self.bodies.back().inner;
  self.bodies.pop_back();
  if (!self.bodies.empty()) self.bodies.back().inner += end - begin;
  if (recording()) {
    SiteRecord* const site = site_of_task(task);
    Chain chain = chain_of(task);
    if (task.kind == Task::move) note_time(site, 0, own);
    else note_task(site, own);
    note_event(site, begin, end, site_number(chain.last));
    chain.add(site, own);
    set_chain(task, chain);
    if (chain.seconds > self.longest.seconds) self.longest = chain;
  }
  if (next_ != nullptr) next_->ended(worker, task);
}

void TaskRecord::end_phase() {
  const auto shorter = [](const Worker& a, const Worker& b) { return a.longest.seconds < b.longest.seconds; };
  const auto found = std::max_element(of_worker_.begin(), of_worker_.end(), shorter);
  if (found == of_worker_.end() || !recording()) return;
  const Chain chain = found->longest;
  run_record->chain_tasks += chain.tasks;
  run_record->chain_nanoseconds += static_cast<uint64_t>(chain.seconds * 1e9);
  for (const Chain::Part& part : chain.parts)
    if (part.site != nullptr)
      part.site->critical[static_cast<size_t>(TimeKind::tasks)] += static_cast<uint64_t>(part.seconds * 1e9);
  for (Worker& worker : of_worker_) worker.longest = {};
}

}  // namespace hiroba
