// The threads of a rank that run tasks: the program's thread, whenever it creates too far ahead or waits for tasks, and
// worker threads. README.md, "Scheduling", says which task a thread takes next and when threads sleep.
//
// Owner: Tasks. Threads: a Worker belongs to one thread; Crew::arrive() is for any thread, also in handlers of
// messages: it takes no lock and allocates nothing.
#pragma once

#include <pthread.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/wait.hpp"
#include "task/crew/chart.hpp"
#include "task/crew/exclusion.hpp"
#include "task/crew/polls.hpp"
#include "task/crew/pool.hpp"
#include "task/crew/ready.hpp"
#include "task/crew/returns.hpp"
#include "task/crew/victims.hpp"

namespace hiroba {

class Crew;

// The interface to the world outside of the threads of this rank.
class Outside {
 public:
  virtual ~Outside() = default;
  virtual bool poll() = 0;                 // returns true if anything has happened
  virtual void sleep(double seconds) = 0;  // until something may have happened, or interrupt()
  virtual void interrupt() = 0;
};

// Receives each task's events, for traces and times. A task that could run when it was created, or that an event of
// another rank released, begins without released().
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void released([[maybe_unused]] const Task& task, [[maybe_unused]] const Task& by) {}
  virtual void began(int worker, const Task& task) = 0;
  virtual void ended(int worker, const Task& task) = 0;
};

// Makes random choices from a seed. Off without one.
class Coin {
 public:
  void seed(uint64_t seed) { state_ = seed * 0x9e3779b97f4a7c15; }
  bool on() const { return state_ != 0; }
  bool toss() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return (state_ >> 32 & 1) != 0;
  }

 private:
  uint64_t state_ = 0;
};

class Worker {
 public:
  Worker(Crew& crew, int index) : crew_(crew), index_(index) {}

  int index() const { return index_; }
  Task* current() const { return current_; }  // the program's task that this thread runs; null if none
  Crew& crew() const { return crew_; }

  // Returns a node for a task of the domain. While there is none the thread runs other tasks.
  Task& create(Domain& domain, Task::Kind kind);
  // The task is complete: it runs when the tasks it is connected to have ended, and Crew::arrive() was called `events`
  // times.
  void submit(Task& task, int events = 0);
  // Runs tasks until done().
  template <typename Done>
  void work_until(const Done& done);
  // The same, if done() may depend on the end of a task of the domain.
  template <typename Done>
  void await(Domain& domain, const Done& done) {
    domain.awaited.store(true);
    work_until(done);
    domain.awaited.store(false);
  }
  // Counts the tasks that this thread has ended, so that a wait for them can end.
  void flush();

 private:
  friend class Crew;
  friend class Graph;
  bool step();
  Task* find();
  Task* take_arrived();
  Task* take_any(bool children_only);
  Task* steal(bool children_only);
  void run(Task* task);
  void end(Task& task, Task*& next);
  void end_all(Task& task, Task*& next);
  void run_inner(Task*& next);
  void end_extra(Task& task, Task*& next);
  void release(Task& task, Task*& next);
  void release_list(Task* tasks, Task*& next);
  void push(Task& task);
  static bool acquire(Task& task);
  void count_end(Domain& domain, Task*& next);
  void rest(Backoff& backoff);
  static void* main(void* self);

  Crew& crew_;
  const int index_;
  Task* current_ = nullptr;
  const Task* ended_ = nullptr;  // the task whose end releases others at the moment
  Task* inner_ = nullptr;        // to run at once
  Ready ready_;
  int nested_ = 0;     // bodies that this thread is in: all but the last one wait
  int fruitless_ = 0;  // times in succession that one of them has found no task
  TaskPool pool_;
  Victims victims_;
  Coin coin_;  // used if tasks are taken in random order
  pthread_t thread_{};
  Returns returns_;
};

class Crew {
 public:
  struct Settings {
    int threads = 1;
    size_t window = 8192;  // most tasks created by one thread that have not ended
    int spins = 200;       // spins of an idle thread before it yields
    Outside* outside = nullptr;
    Domains* domains = nullptr;  // NUMA domains; null: there is one
    // A wire without an event wakes no sleeper, so a nap must be shorter than the time for which other ranks yield:
    // else they also sleep before this rank replies, and the ranks go on sleeping in turns.
    double nap = long_yielding / 4;
    uint64_t seed = 0;  // not 0: threads take tasks in random order, for tests
  };
  Crew();
  ~Crew();
  Status start(const Settings& settings);
  void stop();  // requires that no task is left

  Worker& worker(int index) { return *workers_[index]; }
  int threads() const { return settings_.threads; }
  // Returns the calling thread's worker; null if it is not in the crew.
  static Worker* here();
  // Removes a blocker of the task; if it was the last, the task can run.
  void arrive(Task& task);
  // Requires that this thread runs the task's body.
  static Domain& children_of(Task& task);
  // The task, whose body this thread runs, ends only after let_go(), which any thread may call.
  static void hold(Task& task);
  void let_go(Task& task);
  Backoff backoff() const;  // for an idle thread
  void observe(Observer* observer) { observer_.store(observer); }
  // Records all edges; call it before the first task. Null: none is recorded.
  void draw(Chart* chart) { chart_ = chart; }
  Chart* chart() const { return chart_; }
  // Calls the function between tasks, at intervals, and from idle threads, until it returns 0.
  void poll(Polls::Function function, void* context);
  void wake();
  void wake_all();
  bool runs_any() const;
  // Describes the tasks that have not ended and their predecessors, for a message before the job ends.
  std::string describe() const;

 private:
  friend class Worker;
  void push_arrived(TaskStack& stack, Task& task);
  bool any_arrived() const { return !arrived_.empty() || !let_go_.empty(); }
  bool any_work() const;
  void look_outside();
  void push_urgent(Task* task);
  Task* take_urgent();

  Settings settings_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::atomic<Observer*> observer_{nullptr};
  Chart* chart_ = nullptr;
  Polls polls_;
  std::atomic<bool> stopping_{false};
  alignas(64) TaskStack arrived_;              // can run
  TaskStack let_go_;                           // have ended
  alignas(64) std::atomic<uint32_t> bell_{0};  // futex
  std::atomic<int32_t> sleepers_{0};
  std::atomic<bool> listening_{false};  // one of the threads sleeps outside
  SpinLock urgent_lock_;
  std::atomic<size_t> urgent_count_{0};
  std::vector<Task*> urgent_;  // a heap by priority
};

// Returns the program's name for the task and the place of its creation, for messages.
std::string name_of(const Task& task);

template <typename Done>
void Worker::work_until(const Done& done) {
  flush();
  for (Backoff backoff = crew_.backoff(); !done();) {
    if (step()) backoff = crew_.backoff();
    else if (flush(), !done()) rest(backoff);
  }
}

}  // namespace hiroba
