// What a crew is doing, as text for people.
#include <algorithm>

#include "task/crew.hpp"

namespace hiroba {

std::string name_of(const Task& task) {
  if (task.label == nullptr) return "a task of the library";
  return format("%s (%s)", task.label->name, task.label->place);
}

std::string Crew::describe() const {
  constexpr size_t most = 4;
  std::vector<std::string> running, waiting;
  size_t left = 0;
  const auto is_over = [this](const Task& task) {
    return std::none_of(workers_.begin(), workers_.end(), [&](const auto& w) { return w->current_ == &task; });
  };
  for (const auto& worker : workers_) {
    if (const Task* const task = worker->current_)
      running.push_back(format("thread %d runs %s", worker->index_, name_of(*task).c_str()));
    worker->pool_.for_each([&](const Task& task) {
      if (task.ended() || task.kind != Task::program) return;
      ++left;
      if (waiting.size() == most) return;
      const int blockers = task.blockers.load();
      if (blockers > 0 && blockers < Task::being_created)
        waiting.push_back(format("%s waits for %d other%s", name_of(task).c_str(), blockers, blockers == 1 ? "" : "s"));
      else if (task.extra != nullptr && task.extra->children != nullptr && is_over(task))
        waiting.push_back(name_of(task) + " has returned, and has to be let go, or has children that have not ended");
    });
  }
  std::string out = format("%zu tasks of this rank have not ended", left);
  for (const std::string& text : running) out += "; " + text;
  for (const std::string& text : waiting) out += "; " + text;
  if (running.empty() && left > 0) out += "; no thread runs one, so what they wait for has to come from other ranks";
  return out;
}

}  // namespace hiroba
