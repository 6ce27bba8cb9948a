// Options report and stats: the times of tasks. Owner: the worker, by whose thread alone they are called.
#pragma once

#include "base/record/record.hpp"
#include "base/wait.hpp"
#include "openmp/program/abi.hpp"
#include "openmp/program/member.hpp"
#include "openmp/task_frame.hpp"

namespace hiroba::openmp {

// The time that a task computes, at its construct: without tasks that its thread executes in it, and without waits.
// While it lives, `worker.elsewhere` is the seconds of these.
class TaskTime {
 public:
  TaskTime(Worker& worker, TaskFunction function) : worker_(worker), function_(function) {
    if (!recording()) return;
    begin_ = seconds_now(), before_ = worker.elsewhere, worker.elsewhere = 0;
  }
  TaskTime(const TaskTime&) = delete;
  ~TaskTime() {
    if (!recording()) return;
    const double end = seconds_now(), own = end - begin_ - worker_.elsewhere;
    worker_.elsewhere = before_ + (end - begin_);
    static constexpr char call[] = "task of OpenMP";
    SiteRecord* const site = site_of(SiteKind::task, code_of(function_), 0, call);
    note_task(site, own);
    note_event(site, end - own, end);  // so the times of tasks that lie on one stack do not add up
  }

 private:
  Worker& worker_;
  TaskFunction function_;
  double begin_ = 0, before_ = 0;
};

// The time in which a thread waits and finds no task. That of the first thread of a rank is a part of the rank's
// waiting in collective calls.
class IdleTime {
 public:
  explicit IdleTime(Worker& worker) : worker_(worker) {}
  void begin() {
    if (recording() && since_ == 0) since_ = seconds_now();
  }
  void end() {
    if (since_ == 0) return;
    const double now = seconds_now();
    worker_.elsewhere += now - since_;
    if (member.local == 0) {
      static constexpr char call[] = "a wait for tasks of OpenMP";
      SiteRecord* const site = site_of(SiteKind::collective, call, 0, call, "");
      note_time(site, 0, now - since_);
      note_event(site, since_, now);
    }
    since_ = 0;
  }

 private:
  Worker& worker_;
  double since_ = 0;
};

}  // namespace hiroba::openmp
