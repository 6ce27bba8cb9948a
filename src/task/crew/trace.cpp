#include "task/crew/trace.hpp"

#include <utility>

#include "base/wait.hpp"

namespace hiroba {

void Trace::start(int rank, int threads, std::string file, std::function<std::string()> events) {
  rank_ = rank, file_ = std::move(file), events_ = std::move(events);
  of_worker_.resize(static_cast<size_t>(threads));
}

void Trace::released(const Task& task, const Task& by) {
  if (by.kind != Task::program) return;
  const std::lock_guard lock(mutex_);
  releasers_[&task] = {by.label, by.number & ~Task::lone};
}

Trace::Releaser Trace::releaser_of(const Task& task) {
  const std::lock_guard lock(mutex_);
  const auto found = releasers_.extract(&task);
  return found.empty() ? Releaser{} : found.mapped();
}

void Trace::began(int worker, const Task& task) {
  Timeline& timeline = of_worker_[worker];
  timeline.running.push_back(timeline.events.size());
  timeline.events.push_back(
      {task.label, task.number & ~Task::lone, seconds_now(), 0, releaser_of(task), task.kind == Task::move});
}

void Trace::ended(int worker, const Task&) {
  Timeline& timeline = of_worker_[worker];
  timeline.events[timeline.running.back()].end = seconds_now();
  timeline.running.pop_back();
}

std::string Trace::text(int nranks) const {
  std::string out = format("%s{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"rank %d\"}}",
                           rank_ == 0 ? "{\"traceEvents\":[\n" : ",\n", rank_, rank_);
  constexpr double microseconds = 1e6;
  for (size_t worker = 0; worker < of_worker_.size(); ++worker)
    for (const Event& e : of_worker_[worker].events) {
      const std::string name = e.label != nullptr ? quoted(e.label->name) : e.moves ? "copy" : "task";
      out += format(
          ",\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%zu,\"ts\":%.3f,\"dur\":%.3f,"
          "\"args\":{\"number\":%lu",
          name.c_str(), e.moves ? "comm" : "task", rank_, worker, e.begin * microseconds,
          (e.end - e.begin) * microseconds, e.number);
      if (e.label != nullptr) out += format(",\"place\":\"%s\"", quoted(e.label->place).c_str());
      if (e.releaser.label != nullptr)
        out += format(",\"released by\":\"%s %lu\"", quoted(e.releaser.label->name).c_str(), e.releaser.number);
      out += "}}";
    }
  if (events_) out += events_();
  return out + (rank_ == nranks - 1 ? "\n]}\n" : "");
}

}  // namespace hiroba
