// A crew whose first worker is the test's thread, and tasks of functions: what tests of the task floor share.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <utility>
#include <vector>

#include "task/flow/directory.hpp"

namespace hiroba {

using TaskFunction = std::function<void()>;
static_assert(sizeof(TaskFunction) <= Task::argument_bytes);

class CrewHere {
 public:
  explicit CrewHere(int threads, size_t window = 8192, int spins = 20, Outside* outside = nullptr,
                    Domains* domains = nullptr, double nap = Crew::Settings().nap) {
    Crew::Settings settings;
    settings.threads = threads, settings.window = window, settings.spins = spins, settings.outside = outside;
    settings.domains = domains, settings.nap = nap;
    EXPECT_TRUE(crew.start(settings).ok());
  }
  ~CrewHere() { crew.stop(); }
  Worker& worker() { return crew.worker(0); }

  // A task without edges; submit() follows.
  Task& create(TaskFunction function, int priority = 0) {
    return create(worker(), domain, std::move(function), priority);
  }
  static Task& create(Worker& worker, Domain& domain, TaskFunction function, int priority = 0) {
    Task& task = worker.create(domain, Task::program);
    task.priority = static_cast<int16_t>(priority);
    new (task.argument) TaskFunction(std::move(function));
    task.body = [](void* argument, int run) {
      TaskFunction& f = *static_cast<TaskFunction*>(argument);
      if (run != 0) f();
      f.~TaskFunction();
    };
    return task;
  }
  void submit(Task& task, int events = 0) { worker().submit(task, events); }
  // Until all tasks have ended.
  void wait() {
    worker().await(domain, [&] { return domain.all_ended(); });
    domain.created = 0, domain.ended.store(0);
  }

  Crew crew;
  Domain domain;
};

// As Tasks::create() does it within one rank: edges by accesses, then the task is submitted.
inline void run_with_accesses(Worker& worker, Domain& domain, Directory& directory,
                              const std::vector<TaskAccess>& accesses, TaskFunction function, int priority = 0) {
  Task& task = CrewHere::create(worker, domain, std::move(function), priority);
  Wiring wiring(worker, task);
  for (const TaskAccess& access : accesses) {
    Entry& entry = directory.find(access.tile != nullptr ? *access.tile : access.section);
    entry.exclude(access.mode, task);
    directory.use(entry, access.mode, wiring);
  }
  wiring.submit();
}

}  // namespace hiroba
