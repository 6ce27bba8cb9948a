#include "task/crew/crew.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/thread.hpp"
#include "base/wait.hpp"

namespace hiroba {

namespace {

// Each task looks it up. The TLS model makes its offset in the thread known without a call.
thread_local Worker* worker_here __attribute__((tls_model("initial-exec"))) = nullptr;

// After this call, earlier stores of all threads of this process are visible here, so a thread that pushes a task need
// not fence before it looks for sleepers.
void fence_all_threads() { syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }

bool is_child(const Task& task) { return task.domain->parent != nullptr; }

// Only the program's tasks are urgent; children run newest first.
bool is_urgent(const Task& task) { return task.priority > 0 && !is_child(task); }

bool by_priority(const Task* a, const Task* b) { return a->priority < b->priority; }

// After a failure the runtime's tasks still run: other ranks wait for them.
void run_body(Task& task) {
  const bool failed = task.kind == Task::program && task.domain->failed.load(std::memory_order_relaxed);
  if (task.domain->replay == nullptr) task.body(task.argument, failed ? 0 : 1);
  else if (!failed) task.body(task.argument, 2);
}

}  // namespace

// ---- creating ------------------------------------------------------------------------------------------------------

Task& Worker::create(Domain& domain, Task::Kind kind) {
  size_t limit = domain.recording != nullptr ? SIZE_MAX : crew_.settings_.window;
  fruitless_ = 0;
  Task* task = nullptr;
  for (Backoff backoff = crew_.backoff(); (task = pool_.take(limit)) == nullptr;) {
    flush();
    if (step()) backoff = crew_.backoff();
    else if (domain.parent != nullptr) limit = SIZE_MAX;  // all may wait for a task that this one has yet to create
    else rest(backoff);
  }
  task->blockers.store(Task::being_created, std::memory_order_relaxed);
  task->successors.store(nullptr, std::memory_order_relaxed);
  task->kind = kind;
  task->edges = 0;
  task->priority = 0;
  task->domain = &domain;
  task->label = nullptr;
  ++domain.created;
  return *task;
}

void Worker::submit(Task& task, int events) {
  if (Recording* const recording = task.domain->recording) return recording->tasks.push_back(&task);
  if (task.edges > 0 || events > 0) {
    const int32_t change = task.edges + events - Task::being_created;
    if (task.blockers.fetch_add(change, std::memory_order_acq_rel) + change != 0) return;
  }
  if (task.is_plain() && !is_child(task)) {
    ready_.push_created(&task);
    if (crew_.sleepers_.load(std::memory_order_relaxed) > 0) crew_.wake();
    return;
  }
  Task* next = nullptr;
  release(task, next);
  run_inner(next);
  if (next != nullptr) push(*next);
}

// ---- running -------------------------------------------------------------------------------------------------------

bool Worker::step() {
  Task* const task = find();
  if (task == nullptr) return false;
  run(task);
  return true;
}

// In the body of a task that waits, or creates tasks, the thread runs children only, newest first, so that bodies are
// nested no deeper than the program's tasks. If it finds none for long, the wait may depend on other tasks.
Task* Worker::find() {
  constexpr int long_fruitless = 200, most_nested = 64;
  const bool children_only = nested_ > 0 && (fruitless_ < long_fruitless || nested_ >= most_nested);
  crew_.look_outside();
  if (crew_.any_arrived())
    if (Task* const task = take_arrived()) {
      if (!children_only || is_child(*task)) return task;
      push(*task);
    }
  if (!children_only && crew_.urgent_count_.load(std::memory_order_relaxed) > 0)
    if (Task* const task = crew_.take_urgent()) return task;
  Task* task = nullptr;
  if (coin_.on()) {
    task = take_any(children_only);
  } else {
    task = ready_.take(children_only);
    if (task == nullptr) task = steal(children_only);
  }
  fruitless_ = task == nullptr ? fruitless_ + 1 : 0;
  return task;
}

// Takes a random task that can run.
Task* Worker::take_any(bool children_only) {
  Task* task = coin_.toss() ? steal(children_only) : nullptr;
  if (task == nullptr && coin_.toss()) (void)ready_.steal(&task, 1, children_only);
  if (task == nullptr) task = ready_.take(children_only);
  return task != nullptr ? task : steal(children_only);
}

// Takes tasks that threads outside of the crew have released and ended. Returns one that can run; null if there is
// none.
Task* Worker::take_arrived() {
  Task* next = nullptr;
  release_list(crew_.arrived_.take_all(), next);
  for (Task* task = crew_.let_go_.take_all(); task != nullptr;) {
    Task* const following = task->next;
    end_all(*task, next);
    task = following;
  }
  run_inner(next);
  return next;
}

Task* Worker::steal(bool children_only) {
  return victims_.first([&](int victim) -> Task* {
    constexpr size_t most = 64;
    Task* stolen[most];
    const size_t got = crew_.workers_[victim]->ready_.steal(stolen, most, children_only);
    if (got == 0) return nullptr;
    for (size_t k = got; k-- > 1;) ready_.push_released(stolen[k]);
    return stolen[0];
  });
}

// Runs the task, and then one that it has released, and so on: data that a task has written is then still in the
// caches.
void Worker::run(Task* task) {
  Task* const outer = current_;
  ++nested_;
  while (task != nullptr) {
    current_ = task;
    Observer* const observer = crew_.observer_.load(std::memory_order_relaxed);
    if (observer != nullptr) observer->began(index_, *task);
    run_body(*task);
    if (observer != nullptr) observer->ended(index_, *task);
    ended_ = task;
    Task* next = nullptr;
    end(*task, next);
    run_inner(next);
    ended_ = nullptr;
    task = next;
    if (task == nullptr) break;
    crew_.look_outside();
    // A thread that waits checks first if its wait is over; urgent tasks run first.
    const bool other =
        outer != nullptr || crew_.urgent_count_.load(std::memory_order_relaxed) > 0 || crew_.any_arrived();
    if (other) push(*task), task = nullptr;
  }
  current_ = outer;
  --nested_;
}

// Runs released tasks of the runtime at once, because others wait for their results.
void Worker::run_inner(Task*& next) {
  while (inner_ != nullptr) {
    Task* const task = std::exchange(inner_, inner_->next);
    task->body(task->argument, 1);
    end(*task, next);
  }
}

// A task ends when its body and all its children have.
void Worker::end(Task& task, Task*& next) {
  Domain* const children = task.extra == nullptr ? nullptr : task.extra->children.get();
  if (children != nullptr) {
    if (children->at_end != nullptr) children->at_end(*children);
    const int64_t created = children->created;
    if (children->ended.fetch_sub(created, std::memory_order_acq_rel) != created) return;
  }
  end_all(task, next);
}

void Worker::end_all(Task& task, Task*& next) {
  Domain& domain = *task.domain;
  if (task.extra != nullptr) end_extra(task, next);
  if (domain.replay != nullptr) {
    domain.replay->end(*this, task, next);
    return count_end(domain, next);
  }
  delete std::exchange(task.extra, nullptr);
  Edge* edge = task.successors.exchange(Task::closed(), std::memory_order_acq_rel);
  while (edge != nullptr) {
    Task& successor = Task::of(edge);
    edge = edge->next;  // once its last blocker is gone, the successor may run and its node may be reused
    if (successor.blockers.fetch_sub(1, std::memory_order_acq_rel) == 1) release(successor, next);
  }
  if (task.pool == &pool_) pool_.put(task);
  else returns_.node(task);
  count_end(domain, next);
}

// Releases the exclusions that the task holds, and its children; then it can run again.
void Worker::end_extra(Task& task, Task*& next) {
  TaskExtra& extra = *task.extra;
  for (Exclusion* const exclusion : extra.exclusions) release_list(exclusion->release(), next);
  extra.held = 0;
  if (extra.children != nullptr && extra.children->failed.load()) task.domain->fail(extra.children->failure.load());
  extra.children.reset();
}

// Queues the task, which can run.
void Worker::release(Task& task, Task*& next) {
  if (task.kind == Task::inner) {
    task.next = inner_, inner_ = &task;
  } else if (task.extra == nullptr || acquire(task)) {
    Observer* const observer = crew_.observer_.load(std::memory_order_relaxed);
    if (observer != nullptr && ended_ != nullptr) observer->released(task, *ended_);
    if (is_urgent(task)) crew_.push_urgent(&task);
    else if (next == nullptr) next = &task;
    else push(task);
  }
}

void Worker::release_list(Task* tasks, Task*& next) {
  while (tasks != nullptr) {
    Task* const task = tasks;
    tasks = tasks->next;
    release(*task, next);
  }
}

void Worker::push(Task& task) {
  ready_.push_released(&task);
  if (crew_.sleepers_.load(std::memory_order_relaxed) > 0) crew_.wake();
}

// A task that waits for an exclusion keeps the earlier ones: all tasks take them in one order, so there is no cycle.
bool Worker::acquire(Task& task) {
  TaskExtra& extra = *task.extra;
  for (const size_t all = extra.exclusions.size(); extra.held < all; ++extra.held)
    if (!extra.exclusions[extra.held]->acquire(task)) return false;  // another thread may already run and end it
  return true;
}

void Worker::count_end(Domain& domain, Task*& next) {
  if (domain.parent == nullptr) return returns_.end_in(domain);
  Task& parent = *domain.parent;
  const bool awaited = domain.awaited.load(std::memory_order_relaxed);
  if (domain.ended.fetch_add(1, std::memory_order_acq_rel) == -1) end_all(parent, next);
  else if (awaited && crew_.sleepers_.load(std::memory_order_relaxed) > 0) crew_.wake_all();
}

void Worker::flush() {
  returns_.flush();
  const Domain* const told = returns_.take_told();
  if (told != nullptr && told->awaited.load() && crew_.sleepers_.load() > 0) crew_.wake_all();
}

// ---- waiting -------------------------------------------------------------------------------------------------------

// Waits for work: the thread spins, yields, and then sleeps.
void Worker::rest(Backoff& backoff) {
  if (crew_.polls_.any()) crew_.polls_.call();
  if (backoff.step()) return;
  if (crew_.polls_.begin_watch()) {
    Backoff::yield();
    return crew_.polls_.end_watch();
  }
  Outside* const outside = crew_.settings_.outside;
  const double nap = crew_.settings_.nap;
  const uint32_t bell = crew_.bell_.load(std::memory_order_relaxed);
  const bool listens = outside != nullptr && !crew_.listening_.exchange(true);
  crew_.sleepers_.fetch_add(1);
  fence_all_threads();
  if (!crew_.any_work()) {
    if (listens) outside->sleep(nap);
    else futex_wait(crew_.bell_, bell, nap);
  }
  crew_.sleepers_.fetch_sub(1);
  if (listens) crew_.listening_.store(false);
}

void* Worker::main(void* self) {
  Worker& worker = *static_cast<Worker*>(self);
  worker_here = &worker;
  worker.work_until([&] { return worker.crew_.stopping_.load(std::memory_order_relaxed); });
  return nullptr;
}

// ---- the crew ------------------------------------------------------------------------------------------------------

Crew::Crew() = default;
Crew::~Crew() = default;
Worker* Crew::here() { return worker_here; }

Status Crew::start(const Settings& settings) {
  settings_ = settings;
  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  for (int i = 0; i < settings.threads; ++i) {
    workers_.push_back(std::make_unique<Worker>(*this, i));
    workers_.back()->victims_.start(i, settings.threads, settings.domains);
  }
  for (size_t i = 0; settings.seed != 0 && i < workers_.size(); ++i)
    workers_[i]->coin_.seed(settings.seed * 64 + i + 1);
  worker_here = workers_[0].get();
  if (settings.domains != nullptr) settings.domains->note(0);
  for (size_t i = 1; i < workers_.size(); ++i) {
    const std::string name = format("hiroba-task-%zu", i);
    HIROBA_TRY(start_thread(workers_[i]->thread_, name.c_str(), Worker::main, workers_[i].get()));
  }
  return {};
}

void Crew::stop() {
  stopping_.store(true);
  wake_all();
  for (size_t i = 1; i < workers_.size(); ++i)
    if (workers_[i]->thread_ != pthread_t{}) pthread_join(workers_[i]->thread_, nullptr);
  worker_here = nullptr;
}

// A task may wait for another rank.
Backoff Crew::backoff() const {
  constexpr int yields = 200;
  return Backoff(settings_.spins, settings_.outside != nullptr ? long_yielding : 0, yields);
}

void Crew::arrive(Task& task) {
  Replay* const replay = task.domain->replay;
  const bool ready =
      replay != nullptr ? replay->arrive(task) : task.blockers.fetch_sub(1, std::memory_order_acq_rel) == 1;
  if (ready) push_arrived(arrived_, task);
}

// The hold counts as a child that has not ended.
void Crew::hold(Task& task) { ++children_of(task).created; }

Domain& Crew::children_of(Task& task) {
  if (task.extra == nullptr) task.extra = new TaskExtra;
  if (task.extra->children == nullptr) {
    task.extra->children = std::make_unique<Domain>();
    task.extra->children->parent = &task;
  }
  return *task.extra->children;
}

void Crew::let_go(Task& task) {
  if (task.extra->children->ended.fetch_add(1, std::memory_order_acq_rel) == -1) push_arrived(let_go_, task);
}

void Crew::push_arrived(TaskStack& stack, Task& task) {
  stack.push(task);
  if (sleepers_.load() > 0) wake();
}

void Crew::wake() {
  bell_.fetch_add(1);
  const bool listener_alone = listening_.load() && sleepers_.load() == 1;
  if (listener_alone) settings_.outside->interrupt();
  else futex_wake_one(bell_);
}

void Crew::wake_all() {
  bell_.fetch_add(1);
  futex_wake_all(bell_);
  if (listening_.load()) settings_.outside->interrupt();
}

void Crew::poll(Polls::Function function, void* context) {
  polls_.add(function, context);
  if (sleepers_.load() > 0) wake();
}

void Crew::look_outside() {
  if (settings_.outside != nullptr) settings_.outside->poll();
  if (polls_.any() && polls_.due()) polls_.call();
}

bool Crew::any_work() const {
  if (stopping_.load() || any_arrived() || urgent_count_.load() > 0 || polls_.unwatched()) return true;
  return std::any_of(workers_.begin(), workers_.end(), [](const auto& w) { return !w->ready_.empty(false); });
}

void Crew::push_urgent(Task* task) {
  {
    const std::lock_guard guard(urgent_lock_);
    urgent_.push_back(task);
    std::push_heap(urgent_.begin(), urgent_.end(), by_priority);
    urgent_count_.store(urgent_.size(), std::memory_order_relaxed);
  }
  if (sleepers_.load(std::memory_order_relaxed) > 0) wake();
}

Task* Crew::take_urgent() {
  const std::lock_guard guard(urgent_lock_);
  if (urgent_.empty()) return nullptr;
  std::pop_heap(urgent_.begin(), urgent_.end(), by_priority);
  Task* const task = urgent_.back();
  urgent_.pop_back();
  urgent_count_.store(urgent_.size(), std::memory_order_relaxed);
  return task;
}

}  // namespace hiroba
