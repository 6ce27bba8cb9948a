#include "task/crew/trace.hpp"

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/limits.hpp"
#include "base/wait.hpp"

namespace hiroba {

namespace {

// Escapes the text for a JSON string.
std::string quoted(const char* text) {
  std::string out;
  for (; *text != '\0'; ++text)
    if (*text == '"' || *text == '\\') out += {'\\', *text};
    else if (static_cast<unsigned char>(*text) < ' ') out += ' ';
    else out += *text;
  return out;
}

}  // namespace

void Trace::start(int rank, int threads, std::string file) {
  rank_ = rank, file_ = std::move(file);
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
  Timeline& timeline = of_worker_[static_cast<size_t>(worker)];
  timeline.running.push_back(timeline.events.size());
  timeline.events.push_back(
      {task.label, task.number & ~Task::lone, seconds_now(), 0, releaser_of(task), task.kind == Task::move});
}

void Trace::ended(int worker, const Task&) {
  Timeline& timeline = of_worker_[static_cast<size_t>(worker)];
  timeline.events[timeline.running.back()].end = seconds_now();
  timeline.running.pop_back();
}

Status Trace::write(int nranks) const {
  FILE* const file = std::fopen(file_.c_str(), rank_ == 0 ? "w" : "a");
  if (file == nullptr)
    return Status::error(
        format("option task-trace: cannot write %s (%s)", file_.c_str(), explain_error(errno).c_str()));
  std::fprintf(file, "%s{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"rank %d\"}}",
               rank_ == 0 ? "{\"traceEvents\":[\n" : ",\n", rank_, rank_);
  constexpr double microseconds = 1e6;
  for (size_t worker = 0; worker < of_worker_.size(); ++worker)
    for (const Event& e : of_worker_[worker].events) {
      const std::string name = e.label != nullptr ? quoted(e.label->name) : e.moves ? "copy" : "task";
      std::fprintf(file,
                   ",\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%zu,\"ts\":%.3f,\"dur\":%.3f,"
                   "\"args\":{\"number\":%llu",
                   name.c_str(), e.moves ? "comm" : "task", rank_, worker, e.begin * microseconds,
                   (e.end - e.begin) * microseconds, static_cast<unsigned long long>(e.number));
      if (e.label != nullptr) std::fprintf(file, ",\"place\":\"%s\"", quoted(e.label->place).c_str());
      if (e.releaser.label != nullptr)
        std::fprintf(file, ",\"released by\":\"%s %llu\"", quoted(e.releaser.label->name).c_str(),
                     static_cast<unsigned long long>(e.releaser.number));
      std::fprintf(file, "}}");
    }
  if (rank_ == nranks - 1) std::fprintf(file, "\n]}\n");
  const bool written = std::ferror(file) == 0;
  if (std::fclose(file) != 0 || !written)
    return Status::error(
        format("option task-trace: cannot write %s (%s)", file_.c_str(), explain_error(errno).c_str()));
  return {};
}

}  // namespace hiroba
