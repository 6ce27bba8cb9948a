#include "openmp/tasks.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "base/wait.hpp"
#include "openmp/program/abi.hpp"
#include "openmp/program/imports.hpp"
#include "openmp/program/member.hpp"
#include "openmp/program/runtime.hpp"
#include "openmp/program/words.hpp"
#include "openmp/task_time.hpp"

namespace hiroba::openmp {

namespace {

// Waiting tasks execute any others until so many lie on one stack; after that, those that they have made.
constexpr int most_depth = 256;
constexpr unsigned least_pause = 20, most_pause = 500;  // microseconds, between looks for tasks
constexpr unsigned flag_final = 2;

// Returns shared memory.
void* room_for(const Tasks::Request& request) {
  const InProgram program;
  const size_t alignment = std::max<size_t>(request.alignment, 64);
  void* const room = std::aligned_alloc(alignment, (request.bytes + alignment - 1) / alignment * alignment);
  if (room == nullptr) end_job(1, "no memory for the %zu bytes that are firstprivate in a task", request.bytes);
  return room;
}

void copy_data(void* to, const Tasks::Request& request) {
  if (request.copy == nullptr) {
    std::memcpy(to, request.data, request.bytes);
  } else {
    const InProgram program;
    request.copy(to, request.data);
  }
  if (request.range != nullptr) std::memcpy(to, request.range, 2 * sizeof *request.range);
}

// Option check: races are found between ranks, so a thread leaves the tasks that it has made to others for some looks,
// and pauses after one that it has stolen. It does so a number of times only.
class Sharing {
 public:
  explicit Sharing(int ranks) : on_(words::checked && ranks > 1) {}
  bool leaves() { return on_ && rests_ > 0 && looks_++ < most_looks; }
  void executed(bool stolen) {
    if (!on_ || rests_ == 0) return;
    --rests_, looks_ = 0;
    if (stolen) usleep(1000);
  }

 private:
  static constexpr int most_looks = 20;
  static thread_local int rests_;
  const bool on_;
  int looks_ = 0;
};
thread_local int Sharing::rests_ = 300;

void belongs_to(Frame& task, const Frame& parent) {
  task.root = parent.root;
  task.group = parent.innermost != nullptr ? parent.innermost : parent.group;
}

struct Call {
  Worker& worker;
  Frame& frame;
  TaskFunction function;
  void* data;
};

// libgomp keeps a task's settings, but for the number of threads, and has tasks with reductions and those on devices.
bool libgomp_must_know_tasks() {
  return imports({"omp_set_nested*", "omp_set_schedule*", "omp_set_max_active_levels*", "omp_set_default_*",
                  "omp_in_final*", "omp_in_explicit_task*", "GOMP_taskgroup_reduction_*", "GOMP_task_reduction_*",
                  "GOMP_parallel_reductions", "GOMP_workshare_task_reduction_*", "GOMP_target*", "GOMP_teams*"});
}

// To libgomp it is a task that is executed where it is made.
void call_as_task(Worker& worker, Frame& frame, TaskFunction function, void* data) {
  const TaskTime time(worker, function);
  Frame* const before = std::exchange(worker.current, &frame);
  Call task = {worker, frame, function, data};
  const auto body = [](void* argument) {
    const Call& c = *static_cast<Call*>(argument);
    {
      const InProgram program;
      c.function(c.data);
    }
    if (!c.frame.uses_libgomp) return;
    const InLibgomp libgomp(&c.worker);
    HIROBA_REAL(GOMP_taskwait)();
  };
  HIROBA_REAL(GOMP_task)
  (body, &task, nullptr, sizeof task, alignof(Call), false, frame.is_final ? flag_final : 0, nullptr, 0, nullptr);
  worker.current = before;
}

void call_alone(Worker& worker, Frame& frame, TaskFunction function, void* data) {
  const TaskTime time(worker, function);
  Frame* const before = std::exchange(worker.current, &frame);
  {
    const InProgram program;
    function(data);
  }
  if (frame.threads_before != 0) {
    HIROBA_REAL(omp_set_num_threads)(frame.threads_before);
    member.set_threads = frame.set_threads_before;
  }
  worker.current = before;
}

}  // namespace

void Tasks::keep_threads() const {
  Frame* const frame = current();
  if (frame == nullptr || frame == &worker()->member || call_ != call_alone || frame->threads_before != 0) return;
  frame->threads_before = HIROBA_REAL(omp_get_max_threads)();
  frame->set_threads_before = member.set_threads;
}

// libgomp alone knows detached tasks, and cancels those that wait.
Status Tasks::begin(Memory& memory, Words& words, int most) {
  if (!imports({"GOMP_task", "GOMP_taskloop", "GOMP_taskloop_ull"}) ||
      imports({"omp_fulfill_event", "omp_fulfill_event_"}))
    return {};
  if (HIROBA_REAL(omp_get_cancellation)() != 0) return {};
  memory_ = &memory, words_ = &words, spins_ = memory.job().spins(HIROBA_REAL(omp_get_max_threads)());
  call_ = libgomp_must_know_tasks() ? call_as_task : call_alone;
  void* at = nullptr;
  Arrays::Request tasks = array_of_ranks(memory.job(), "tasks", sizeof(Shared), most);
  tasks.sparse = true;
  HIROBA_TRY(memory.arrays().allocate(tasks, at));
  shared_ = {static_cast<Shared*>(at), most};
  workers_.resize(static_cast<size_t>(most));
  return returned_.begin(memory);
}

Worker* Tasks::worker() const {
  return words_ != nullptr && member.spans ? workers_[static_cast<size_t>(member.local)].get() : nullptr;
}

Frame* Tasks::current() const {
  const Worker* const here = worker();
  return here != nullptr ? here->current : nullptr;
}

bool Tasks::are_shared() const {
  const Frame* const frame = current();
  return frame != nullptr && (frame->innermost == nullptr || !frame->innermost->reduces);
}

void Tasks::make(const Request& request) {
  const InRuntime runtime;
  Worker& here = *worker();
  Frame& parent = *here.current;
  take_returned(here);
  // If many tasks are ready another one gains nothing, but costs more than its execution. While this thread has a lock,
  // it executes none that may want the lock.
  const bool is_enough =
      words::locks_held == 0 && here.deque.count() >= static_cast<uint32_t>(std::max(64, 4 * member.threads));
  if (!request.may_be_deferred || parent.is_final || (is_enough && request.depends == nullptr))
    return make_now(here, request);
  Frame* const frame = here.new_frame();
  TaskRecord& record = *frame->record;
  record.function = request.function, record.frame = frame, record.is_final = request.is_final, record.next = 0;
  const bool fits = request.bytes <= TaskRecord::most_inline && request.alignment <= alignof(TaskRecord);
  record.data = fits ? record.place : room_for(request);
  copy_data(record.data, request);
  frame->is_final = request.is_final;
  belongs_to(*frame, parent);
  Children::add(parent.children);
  frame->siblings = parent.children;
  frame->root->pending.fetch_add(1, std::memory_order_relaxed);
  if (frame->group != nullptr) frame->group->pending.fetch_add(1, std::memory_order_relaxed);
  if (request.depends != nullptr) {
    const std::lock_guard guard(lock_);
    if (parent.made == nullptr) parent.made = std::make_unique<Dependences>();
    frame->node = parent.made->add(frame, request.depends);
    if (frame->node->blocked > 0) return;
  }
  if (!here.deque.push(&record)) execute(here, *frame);
}

// The task ends here, so nothing waits for it.
void Tasks::make_now(Worker& worker, const Request& request) {
  if (request.depends != nullptr) wait_for(request.depends);
  Frame frame;
  belongs_to(frame, *worker.current);
  frame.is_final = request.is_final || worker.current->is_final;
  const bool is_copied = request.copy != nullptr || request.range != nullptr;
  void* const data = is_copied ? room_for(request) : request.data;
  if (is_copied) copy_data(data, request);
  call_(worker, frame, request.function, data);
  if (frame.children != nullptr) frame.children->end_parent();
  if (is_copied) std::free(data);
}

void Tasks::execute(Worker& worker, Frame& frame) {
  ++worker.depth;
  call_(worker, frame, frame.record->function, frame.record->data);
  --worker.depth;
  end(worker, frame);
}

// The task has ended here, or, with all that it has made, on another rank.
void Tasks::end(Worker& worker, Frame& frame) {
  TaskRoot* const root = frame.root;
  if (frame.children != nullptr) frame.children->end_parent();
  if (frame.maker < 0) {
    if (frame.node != nullptr) release_successors(worker, frame);
    if (frame.record->data != frame.record->place) std::free(frame.record->data);
    frame.siblings->end_child();
    if (frame.group != nullptr) frame.group->pending.fetch_sub(1, std::memory_order_acq_rel);
    worker.free_frame(&frame);
  }
  Frame* const task = root->task;
  if (root->pending.fetch_sub(1, std::memory_order_acq_rel) != 1 || task == nullptr) return;
  returned_.give(task->maker, task->record);
  worker.free_frame(task);
}

void Tasks::take_returned(Worker& worker) {
  for (TaskRecord* record = returned_.take(); record != nullptr;) {
    TaskRecord* const next = ReturnedTasks::next(*record);
    end(worker, *record->frame);
    record = next;
  }
}

void Tasks::release_successors(Worker& worker, const Frame& frame) {
  const std::lock_guard guard(lock_);
  for (Frame* const next : Dependences::end(*frame.node)) {
    if (worker.deque.push(next->record)) continue;
    overflow_.push_back(next);
    overflows_.store(static_cast<int64_t>(overflow_.size()), std::memory_order_relaxed);
  }
}

// `only_of`: tasks that this one has made. `leaves`: not those that wait here, which others may take.
Frame* Tasks::take(Worker& worker, const Frame* only_of, bool leaves) {
  take_returned(worker);
  if (leaves) return only_of == nullptr ? steal(worker) : nullptr;
  if (TaskRecord* const record = worker.deque.pop(); record != nullptr) {
    if (only_of == nullptr || record->frame->siblings == only_of->children) return record->frame;
    worker.deque.push(record);
  }
  if (overflows_.load(std::memory_order_relaxed) > 0) {
    const std::lock_guard guard(lock_);
    if (!overflow_.empty()) {
      Frame* const frame = overflow_.back();
      overflow_.pop_back();
      overflows_.store(static_cast<int64_t>(overflow_.size()), std::memory_order_relaxed);
      return frame;
    }
  }
  return only_of == nullptr ? steal(worker) : nullptr;
}

// From a thread of this rank, or of one other rank, which is another one each time until it has some.
Frame* Tasks::steal(Worker& worker) const {
  const int mine = memory_->job().rank, ranks = memory_->job().nranks;
  for (int i = 1; i < member.locals; ++i)
    if (const TaskRecord* const record = Deque::steal(shared_.of(mine, (member.local + i) % member.locals).deque))
      return record->frame;
  if (worker.victim == mine) worker.victim = (mine + 1) % ranks;
  for (int i = 0; i < threads_[static_cast<size_t>(worker.victim)]; ++i) {
    TaskRecord* const record = Deque::steal(shared_.of(worker.victim, i).deque);
    if (record == nullptr) continue;
    return worker.new_frame(record, worker.victim);
  }
  worker.victim = (worker.victim + 1) % ranks;
  return nullptr;
}

// A task that waits with a lock must not execute one that wants the same lock.
template <typename Done>
void Tasks::execute_until(Worker& worker, const char* what, const Frame* waits, const Done& done) {
  const bool any = waits == nullptr || (words::locks_held == 0 && worker.depth < most_depth);
  unsigned pause = least_pause;
  IdleTime idle(worker);
  std::optional<LongWait> wait(what);
  Sharing sharing(memory_->job().nranks);
  for (Backoff backoff(spins_, long_yielding); !done();) {
    if (Frame* const frame = take(worker, any ? nullptr : waits, sharing.leaves()); frame != nullptr) {
      idle.end();
      wait.reset();
      const bool stolen = frame->maker >= 0;
      execute(worker, *frame);
      sharing.executed(stolen);
      wait.emplace(what);
      backoff = Backoff(spins_, long_yielding), pause = least_pause;
      continue;
    }
    idle.begin();
    if (backoff.step()) continue;
    usleep(pause);
    wait->go_on();
    pause = std::min(2 * pause, most_pause);
  }
  idle.end();
}

void Tasks::wait() {
  const InRuntime runtime;
  Worker& here = *worker();
  Frame& frame = *here.current;
  if (frame.children != nullptr) execute_until(here, "taskwait", &frame, [&] { return frame.children->ended(); });
  frame.made.reset();
  if (!frame.uses_libgomp) return;
  const InLibgomp libgomp(&here);
  HIROBA_REAL(GOMP_taskwait)();
}

void Tasks::wait_for(void** depends) {
  const InRuntime runtime;
  Worker& here = *worker();
  Frame& frame = *here.current;
  if (frame.made == nullptr) return;
  std::shared_ptr<Dependences::Node> node;
  {
    const std::lock_guard guard(lock_);
    node = frame.made->add(nullptr, depends);
  }
  execute_until(here, "taskwait with depend", &frame,
                [&] { return node->blocked.load(std::memory_order_acquire) == 0; });
}

void Tasks::begin_group() {
  Frame* const frame = current();
  if (frame == nullptr) return;
  const InRuntime runtime;
  auto* const group = new TaskGroup;
  group->outer = frame->innermost;
  group->reduces = group->outer != nullptr && group->outer->reduces;
  frame->innermost = group;
}

void Tasks::group_reduces() const {
  if (const Frame* const frame = current(); frame != nullptr) frame->innermost->reduces = true;
}

void Tasks::libgomp_makes() const {
  if (Frame* const frame = current(); frame != nullptr) frame->uses_libgomp = true;
}

void Tasks::end_group() {
  Frame* const frame = current();
  if (frame == nullptr) return;
  const InRuntime runtime;
  const std::unique_ptr<TaskGroup> group(frame->innermost);
  execute_until(*worker(), "the end of a taskgroup", frame,
                [&] { return group->pending.load(std::memory_order_acquire) == 0; });
  frame->innermost = group->outer;
}

void Tasks::begin_region(std::span<const int> threads) {
  threads_ = threads;
  ranks_ = static_cast<uint64_t>(std::count_if(threads.begin(), threads.end(), [](int n) { return n > 0; }));
}

void Tasks::begin_member() {
  if (words_ == nullptr) return;
  std::unique_ptr<Worker>& here = workers_[static_cast<size_t>(member.local)];
  if (here == nullptr) {
    const InRuntime runtime;
    Shared& words = shared_.of(memory_->job().rank, member.local);
    here = std::make_unique<Worker>(words.deque, words.record);
    here->victim = memory_->job().rank;
  }
  here->member.root = &here->root;
  here->member.uses_libgomp = false;
  here->current = &here->member;
}

// A thread that has come here makes no more tasks of its own, so when those of all threads have ended there are none.
void Tasks::end_all() {
  if (words_ == nullptr) return;
  const InRuntime runtime;
  Worker& here = *worker();
  const uint64_t number = member.barriers;
  int64_t* const ranks_done = &words_->done[number % 2];
  bool is_done = false;
  execute_until(here, "a barrier of OpenMP", nullptr, [&] {
    if (!is_done && here.root.pending.load(std::memory_order_acquire) == 1) {
      is_done = true;
      if (members_done_.fetch_add(1) + 1 == member.locals) members_done_ = 0, words::add(ranks_done, 1);
    }
    if (ended_.load(std::memory_order_acquire) > number) return true;
    if (member.local != 0 || !is_done || words::load(ranks_done) != ranks_) return false;
    ended_.store(number + 1, std::memory_order_release);
    return true;
  });
  here.member.made.reset();
}

void Tasks::end_member() {
  if (words_ != nullptr) worker()->current = nullptr;
}

void Tasks::clear(uint64_t barriers) {
  if (words_ != nullptr && memory_->job().rank == 0) words_->done[barriers % 2] = 0;
}

}  // namespace hiroba::openmp
