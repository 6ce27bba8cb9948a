// The contract of this floor: tasks that name the data they use. All ranks create the same sequence of tasks; each task
// runs once, on one rank, as soon as the earlier tasks that use the same data allow it, with that data in place.
// README.md has the protocol.
//
// A Tasks object is one rank's part; the process owns it. Calls are for the program's thread, which creates the
// sequence, and for bodies of tasks, which create tasks of their own on their rank; let_go() is for any thread. In a
// call that waits, the thread runs other tasks.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "memory/memory.hpp"
#include "task/access.hpp"

namespace hiroba {

struct Domain;
struct TaskParts;
struct TaskGraph;

class Tasks {
 public:
  static constexpr int anywhere = -1;
  struct Spec {
    const TaskLabel* label = nullptr;
    int on = anywhere;     // the rank that runs it; anywhere: the home of its written data; without shared data, all
    int16_t priority = 0;  // greater ones first; at least 0
  };
  struct Settings {
    int threads = 1;
    size_t window = 8192;  // most tasks created by one thread that have not ended
    uint64_t seed = 0;     // not 0: tasks run in random order
    std::string graph;     // file for the edges between tasks
    bool report = false;   // option report: tasks are counted, and their time measured
    // If it is not empty, each thread keeps there the name of the task that it runs, or null.
    std::span<std::atomic<const char*>> names = {};
  };
  using Body = void (*)(void* argument, int run);  // run: 0 only destroys the argument, 2 keeps it
  static constexpr size_t argument_bytes = 112;

  Tasks();
  ~Tasks();
  Status listen(Transport& transport, const Job& job);   // before the transport starts
  void start(Memory& memory, const Settings& settings);  // threads start with the first task
  Status stop();                                         // collective

  // Returns room for the argument of a task, aligned to 16 bytes; null if it runs on another rank. submit() follows.
  Status create(std::span<const TaskAccess> accesses, const Spec& spec, void*& argument);
  void submit(void* argument, Body body);

  // wait() waits for all tasks so far, of all ranks: then all shared memory is as after a barrier. Collective. In a
  // task it waits for that task's own ones.
  struct Failed {
    int rank = -1;         // the rank on which a task has failed; -1: none has
    void* what = nullptr;  // the value that the task gave to fail(), if that is this rank
    std::string text;      // the task's name, and the reason
  };
  // A call that cannot hand a failure to the program passes null: the failing rank then gets a status.
  Status wait(const char* call, Failed* failed);
  // Waits until the data is here, and no task so far writes it. Every rank makes the call; in a task it covers that
  // task's own tasks. It does not report failures of tasks.
  Status wait_for(std::span<const TaskAccess> accesses, const Spec& spec);
  // Waits as wait() does if any task so far has failed. Collective; in a task it covers that task's own tasks.
  Status wait_if_failed(const char* call, Failed& failed);
  // From now on a rank may leave out tasks that use none of the shared data that it uses. Collective; no task is left.
  Status allow_parts(bool parts);
  bool any() const;  // true if tasks of the program may not have ended
  // Returns true if tasks of the program so far use these bytes, and may not have ended. For the program's thread,
  // outside of tasks.
  bool use(const void* address, size_t bytes, bool to_write) const;

  // Calls create() once for each iteration; it must create the same tasks each time. If that pays, they are recorded
  // when the graph first runs. Collective; run_graph waits, as wait() does, before and after.
  Status make_graph(void (*create)(void* context), void* context, TaskGraph*& graph);
  Status run_graph(TaskGraph& graph, int64_t times, const char* call, Failed& failed);
  Status free_graph(TaskGraph& graph);

  // The task whose body calls this ends only after let_go(), which any thread may call.
  void* hold();
  void let_go(void* held);
  // Threads call the function between tasks and while they find none, one at a time, until it returns 0.
  Status poll(int (*function)(void* context), void* context);
  // The body that calls this has failed for this reason. Tasks of the same parent that have not begun are not run.
  void fail(void* failure, const char* why);

  // Runs other tasks until done(context) is not 0.
  Status work_until(int (*done)(void* context), void* context);
  int threads() const { return settings_.threads; }

 private:
  Status begin();
  template <typename Done>
  void await(const char* call, Domain& domain, const Done& done);
  Status wait_for_all(const char* call, Failed* failed);
  Status synchronise(const char* call);
  Status record(TaskGraph& graph);

  Settings settings_;
  std::unique_ptr<TaskParts> parts_;
};

// Return true if the caller is the body of a task; of one that a single rank of several runs; and its name: "update
// (main.c:12)".
bool in_task();
bool in_lone_task();
std::string running_task();
int thread_of_task();  // the number of the calling thread; 0 outside of tasks
// For the body of a task: returns the address in its thread's part for an address of the section of that access, a
// reduction. Null if the task has no such reduction.
char* part_of_reduction(int access, const char* address);

}  // namespace hiroba
