// Taskflow: asynchronous tasks that name those before them (dependent_async), made while others run. With BUILD, a
// graph that is built and then run, and can be run again.
#include <memory>
#include <taskflow/taskflow.hpp>
#include <vector>

#include "taskgraph.h"

namespace {

std::unique_ptr<tf::Executor> executor;  // its threads live as long as the runtime

void start(int threads) { executor = std::make_unique<tf::Executor>(static_cast<size_t>(threads)); }
void stop() { executor.reset(); }

#ifdef BUILD
constexpr const char* name = "taskflow graph";

void build(tf::Taskflow& flow, const graph* g) {
  std::vector<tf::Task> tasks;
  tasks.reserve(static_cast<size_t>(g->tasks));
  for (int t = 0; t < g->tasks; t++) {
    tasks.push_back(flow.emplace([g, t] { task_run(g, t); }));
    for (int e = g->first_before[t]; e < g->first_before[t + 1]; e++)
      tasks[static_cast<size_t>(g->before[e])].precede(tasks.back());
  }
}

std::unique_ptr<tf::Taskflow> kept;  // of `record`

void run(const graph* g) {
  tf::Taskflow flow;
  build(flow, g);
  executor->run(flow).wait();
}

void record(const graph* g) {
  kept = std::make_unique<tf::Taskflow>();
  build(*kept, g);
}

void replay(const graph* /*g*/) { executor->run(*kept).wait(); }
void release(const graph* /*g*/) { kept.reset(); }
#else
constexpr const char* name = "taskflow";

void create(const graph* g) {
  std::vector<tf::AsyncTask> tasks(g->free ? 0 : static_cast<size_t>(g->tasks)), before;
  for (int t = 0; t < g->tasks; t++) {
    if (g->free) {
      executor->silent_async([g, t] { task_run(g, t); });
      continue;
    }
    before.clear();
    for (int e = g->first_before[t]; e < g->first_before[t + 1]; e++)
      before.push_back(tasks[static_cast<size_t>(g->before[e])]);
    tasks[static_cast<size_t>(t)] =
        executor->silent_dependent_async([g, t] { task_run(g, t); }, before.begin(), before.end());
  }
}

// One of the threads makes the tasks, so that no more compute than are asked for.
void run(const graph* g) {
  executor->silent_async([g] { create(g); });
  executor->wait_for_all();
}
#endif

}  // namespace

int main(int argc, char** argv) {
  runtime taskflow{};
  taskflow.name = taskflow.team.program = name;
  taskflow.team.count = 1;
  taskflow.start = start;
  taskflow.run = run;
#ifdef BUILD
  taskflow.record = record;
  taskflow.replay = replay;
  taskflow.release = release;
#endif
  taskflow.stop = stop;
  return taskgraph(argc, argv, &taskflow);
}
