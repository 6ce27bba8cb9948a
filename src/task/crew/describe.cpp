// Describes the state of a crew as text for messages.
#include <algorithm>
#include <set>

#include "task/crew/crew.hpp"

namespace hiroba {

std::string name_of(const Task& task) {
  if (task.label == nullptr) return "a task of the library";
  return format("%s (%s)", task.label->name, task.label->place);
}

namespace {

std::string waits_for(const Task& task, int others, const Task* one) {
  std::string out = format("%s waits for %d other%s", name_of(task).c_str(), others, others == 1 ? "" : "s");
  if (one != nullptr) out += format(others == 1 ? ", %s" : ", one of them %s", name_of(*one).c_str());
  return out;
}

}  // namespace

bool Crew::runs_any() const {
  return std::any_of(workers_.begin(), workers_.end(), [](const auto& w) { return w->current_ != nullptr; });
}

std::string Crew::describe() const {
  constexpr size_t most = 4;
  std::vector<std::string> running, waiting;
  std::set<const Replay*> replays;
  size_t left = 0;
  const auto is_over = [this](const Task& task) {
    return std::none_of(workers_.begin(), workers_.end(), [&](const auto& w) { return w->current_ == &task; });
  };
  const auto add = [&](const Task& task, int others, const Task* one) {
    ++left;
    if (waiting.size() == most) return;
    if (others > 0) waiting.push_back(waits_for(task, others, one));
    else if (task.extra != nullptr && task.extra->children != nullptr && is_over(task))
      waiting.push_back(name_of(task) + " has returned, and has to be let go, or has children that have not ended");
  };
  for (const auto& worker : workers_) {
    if (const Task* const task = worker->current_)
      running.push_back(format("thread %d runs %s", worker->index_, name_of(*task).c_str()));
    worker->pool_.for_each([&](const Task& task) {
      if (task.ended()) return;
      if (task.domain->replay != nullptr) return static_cast<void>(replays.insert(task.domain->replay));
      const int blockers = task.blockers.load();
      if (task.kind == Task::program) add(task, blockers < Task::being_created ? blockers : 0, nullptr);
    });
  }
  for (const Replay* const replay : replays)
    for (const Replay::Waiting& each : replay->waiting())
      if (each.task->kind == Task::program) add(*each.task, each.others, each.one);
  std::string out = format("%zu tasks of this rank have not ended", left);
  for (const std::string& text : running) out += "; " + text;
  for (const std::string& text : waiting) out += "; " + text;
  if (running.empty() && left > 0) out += "; no thread runs one, so what they wait for has to come from other ranks";
  return out;
}

}  // namespace hiroba
