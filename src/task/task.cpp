#include "task/task.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/files/own_file.hpp"
#include "base/limits.hpp"
#include "base/log.hpp"
#include "task/check/name_check.hpp"
#include "task/check/nesting_check.hpp"
#include "task/crew/running.hpp"
#include "task/crew/task_record.hpp"
#include "task/crew/watch.hpp"
#include "task/flow/agreement.hpp"
#include "task/flow/graph.hpp"
#include "task/flow/reductions.hpp"

namespace hiroba {

// A freed graph keeps its place without its contents, so that a later use of it is found.
struct TaskGraph {
  void (*create)(void* context);
  void* context;
  std::unique_ptr<Graph> recorded;
  bool freed = false;
  Status usable(const char* call) const {
    return freed ? Status::error("%s: the graph was freed already, by hiroba_graph_free", call) : Status();
  }
};

struct TaskParts {
  Memory* memory = nullptr;
  Crew crew;
  Events events;
  Flow flow;
  Watch watch;
  RunningTasks running;
  TaskRecord record;
  Chart chart;
  std::unique_ptr<Domains> domains;
  NameCheck name_check;
  NestingCheck nesting_check;
  Agreement agreement;
  bool begun = false, leave_out = false;  // leave_out: allow_parts()
  Graph* recording = nullptr;
  std::vector<std::unique_ptr<TaskGraph>> freed_graphs;
  std::unique_ptr<Reductions> reductions;  // of the program's sequence

  Flow& creating() { return recording != nullptr ? recording->flow() : flow; }
};

namespace {

static_assert(Tasks::argument_bytes == Task::argument_bytes);

// Returns the task that this thread runs; null in the program's own code.
Task* running() {
  const Worker* const worker = Crew::here();
  return worker == nullptr ? nullptr : worker->current();
}

// State of the tasks that a task creates.
struct Children {
  Directory directory;
  Reductions reductions;
};

Status create_task(TaskParts& parts, Task* parent, std::span<const TaskAccess> accesses, const Tasks::Spec& spec,
                   void*& argument);

Reductions::Sequence sequence_of(TaskParts& parts, Task* parent, Tasks& tasks) {
  return {parts.memory, tasks.threads(), parent != nullptr ? 1 : parts.memory->job().nranks,
          [&parts, parent](std::span<const TaskAccess> accesses, const Tasks::Spec& spec, void*& argument) {
            return create_task(parts, parent, accesses, spec, argument);
          },
          [&tasks](void* argument, Tasks::Body body) { tasks.submit(argument, body); }};
}

Children& children_of(TaskParts& parts, Task& parent, Tasks& tasks) {
  Domain& domain = Crew::children_of(parent);
  if (domain.sequence == nullptr) {
    parts.nesting_check.begin(domain);
    domain.sequence = std::shared_ptr<void>(new Children{{}, Reductions(sequence_of(parts, &parent, tasks))});
    domain.at_end = [](Domain& d) { (void)static_cast<Children*>(d.sequence.get())->reductions.combine(); };
  }
  return *static_cast<Children*>(domain.sequence.get());
}

Status create_task(TaskParts& parts, Task* parent, std::span<const TaskAccess> accesses, const Tasks::Spec& spec,
                   void*& argument) {
  Task* task = nullptr;
  if (parent != nullptr) {
    Domain& domain = *parent->extra->children;
    Directory& directory = static_cast<Children*>(domain.sequence.get())->directory;
    task = &create_local(*Crew::here(), domain, directory, accesses);
    if (parts.nesting_check.on()) HIROBA_TRY(parts.nesting_check.created(domain, task, accesses, spec.label));
  } else {
    HIROBA_TRY(parts.creating().create(accesses, spec.on, spec.label, task));
    if (parts.nesting_check.on())
      HIROBA_TRY(parts.nesting_check.created(parts.creating().domain(), task, accesses, spec.label));
    if (task == nullptr) return {};
  }
  task->label = spec.label, task->priority = spec.priority;
  parts.name_check.created(*task, accesses);
  argument = task->argument;
  return {};
}

// A domain's record of a task that has failed.
struct Failure {
  void* what;
  std::string text;
};

// If `failed` is null, because the call cannot hand a failure to the program, returns the failure as a status.
Status take_failure(const char* call, Domain& domain, int rank, Tasks::Failed* failed) {
  if (!domain.failed.exchange(false)) return {};
  const std::unique_ptr<Failure> taken(static_cast<Failure*>(domain.failure.exchange(nullptr)));
  if (failed != nullptr) return *failed = {rank, taken->what, std::move(taken->text)}, Status();
  return Status::error(
      "%s; %s cannot pass that on: call hiroba::taskwait before it, which throws what the task has thrown (in C: "
      "hiroba_taskwait_failed)",
      taken->text.c_str(), call);
}

// Waits; Watch checks the program's waits only: while a task waits, the program does, too, or it will.
template <typename Wait>
void watched(TaskParts& parts, const char* call, const Domain& domain, const Wait& wait) {
  if (running() != nullptr) return wait();
  const BlockedOnBoard blocked(parts.memory->collective().world().board->rank(parts.memory->job().rank), call);
  parts.watch.begin(call, domain);
  wait();
  parts.watch.end();
}

std::string name_section(const Memory& memory, const TaskSection& section) {
  Array* array = nullptr;
  if (!memory.arrays().find(section.address, array).ok()) return format("%zu B", section.total());
  const std::string name = element_name(*array, section.address - array->data);  // may begin with the path of a file
  return format("%s\n%zu B", name.substr(name.rfind('/') + 1).c_str(), section.total());
}

Status append(const std::string& file, int rank, const std::string& text) {
  const Status written = rank == 0 ? write_whole_file(file, shared_mode, text) : append_to_own_file(file, text);
  return written.ok() ? written : Status::error("option task-graph: %s", written.message().c_str());
}

// The ranks write one after the other.
Status write_in_turn(const Chart& chart, const Memory& memory) {
  const Job& job = memory.job();
  for (int r = 0; r < job.nranks; ++r) {
    if (r == job.rank) HIROBA_TRY(append(chart.file(), r, chart.text(job.nranks)));
    HIROBA_TRY(memory.collective().barriers().all("the graph of tasks"));
  }
  return {};
}

Status wrong_thread() {
  return Status::error(
      "tasks are created by the thread that has started Hiroba and by tasks; this is another thread of the program (in "
      "an OpenMP loop, create them in the thread that runs the task, after the loop)");
}

}  // namespace

Tasks::Tasks() : parts_(std::make_unique<TaskParts>()) {}
Tasks::~Tasks() = default;

Status Tasks::listen(Transport& transport, const Job& job) {
  return parts_->events.listen(transport, job, parts_->crew);
}

void Tasks::start(Memory& memory, const Settings& settings) {
  TaskParts& p = *parts_;
  p.memory = &memory;
  settings_ = settings;
  if (NameCheck::possible(memory)) settings_.threads = 1;
  p.events.start(memory.collective().world());
  p.agreement.start(memory.collective().barriers(), memory.job().nranks);
  if (memory.checking()) p.events.tell(memory.consistency());
}

Status Tasks::begin() {
  TaskParts& p = *parts_;
  if (std::exchange(p.begun, true)) return {};
  Crew::Settings settings;
  settings.threads = settings_.threads, settings.window = settings_.window, settings.seed = settings_.seed;
  settings.spins = p.memory->job().spins(settings_.threads);
  settings.outside = p.memory->job().nranks > 1 ? &p.events : nullptr;
  p.domains = Domains::of_machine(settings.threads);
  settings.domains = p.domains.get();
  HIROBA_TRY(p.crew.start(settings));
  const bool checking = p.memory->checking();
  Observer* observer = nullptr;
  if (checking) {
    p.name_check.start(*p.memory);
    observer = &p.name_check;
    if (settings_.threads == 1) p.nesting_check.start(*p.memory);
  }
  if (settings_.report) {
    p.record.start(settings.threads, observer);
    observer = &p.record;
  }
  if (!settings_.names.empty()) {
    p.running.start(settings_.names, observer);
    observer = &p.running;
  }
  p.crew.observe(observer);
  if (!settings_.graph.empty()) {
    const auto name_of = [&memory = *p.memory](const TaskSection& section) { return name_section(memory, section); };
    p.chart.start(p.memory->job().rank, settings_.graph, name_of);
    p.crew.draw(&p.chart);
  }
  p.flow.start(*p.memory, p.crew.worker(0), p.events);
  p.reductions = std::make_unique<Reductions>(sequence_of(p, nullptr, *this));
  return p.watch.start(p.crew, p.memory->collective().world().timeout);
}

Status Tasks::stop() {
  if (!parts_->begun) return {};
  HIROBA_TRY(wait("the end of the program", nullptr));
  parts_->watch.stop();
  parts_->crew.stop();
  if (parts_->chart.on()) HIROBA_TRY(write_in_turn(parts_->chart, *parts_->memory));
  if (parts_->chart.tasks() > Chart::most)
    log_line("option task-graph: %s has the first %zu of the %zu tasks of this rank", settings_.graph.c_str(),
             Chart::most, parts_->chart.tasks());
  parts_->begun = false;
  return {};
}

Status Tasks::allow_parts(bool parts) {
  HIROBA_TRY(begin());
  if (parts_->flow.any() || parts_->recording != nullptr)
    return Status::error("hiroba_task_parts while tasks are under way; call hiroba_taskwait before");
  parts_->leave_out = parts;
  parts_->flow.allow_parts(parts);
  return {};
}

// A rank that may leave out tasks does not know if others have created some. A wait in the function of a graph is
// refused.
bool Tasks::any() const { return parts_->flow.any() || parts_->leave_out || parts_->recording != nullptr; }
bool Tasks::use(const void* address, size_t bytes, bool to_write) const {
  return bytes > 0 && parts_->flow.any() && Crew::here() != nullptr &&
         parts_->flow.uses(TaskSection(const_cast<void*>(address), bytes), to_write);
}

bool in_task() { return running() != nullptr; }
// Children run on the rank of the program's task. Recorded tasks do not tell.
bool in_lone_task() {
  const Task* task = running();
  while (task != nullptr && task->domain->parent != nullptr) task = task->domain->parent;
  return task != nullptr && task->domain->replay == nullptr && (task->number & Task::lone) != 0;
}
std::string running_task() { return in_task() ? name_of(*running()) : "no task"; }

Status Tasks::create(std::span<const TaskAccess> accesses, const Spec& spec, void*& argument) {
  argument = nullptr;
  Task* const parent = running();
  if (parent == nullptr) {
    HIROBA_TRY(begin());
    if (Crew::here() == nullptr) return wrong_thread();
    const int nranks = parts_->memory->job().nranks;
    if (spec.on != anywhere && (spec.on < 0 || spec.on >= nranks))
      return Status::error("on rank %d, but the job has ranks 0..%d", spec.on, nranks - 1);
  }
  Reductions& reductions = parent != nullptr ? children_of(*parts_, *parent, *this).reductions : *parts_->reductions;
  if (reductions.concern(accesses)) return reductions.create(accesses, spec, argument);
  return create_task(*parts_, parent, accesses, spec, argument);
}

void Tasks::submit(void* argument, Body body) {
  Task& task = Task::of(argument);
  task.body = body;
  if (parts_->chart.on()) parts_->chart.task(task);
  Crew::here()->submit(task);
}

// ---- waiting -------------------------------------------------------------------------------------------------------

Status Tasks::wait(const char* call, Failed* failed) {
  if (Task* const task = running()) {
    if (failed != nullptr) *failed = {};
    if (task->extra == nullptr || task->extra->children == nullptr) return {};
    Domain& children = *task->extra->children;
    if (children.at_end != nullptr) children.at_end(children);
    await(call, children, [&] { return children.all_ended(); });
    parts_->nesting_check.begin(children);
    return take_failure(call, children, parts_->memory->job().rank, failed);
  }
  HIROBA_TRY(begin());
  if (Crew::here() == nullptr) return wrong_thread();
  if (failed != nullptr) *failed = {};
  HIROBA_TRY(wait_for_all(call, failed));
  return synchronise(call);
}

// All tasks of all ranks have ended; copies that ranks have stay valid. An earlier failure stays in `failed`.
Status Tasks::wait_for_all(const char* call, Failed* failed) {
  TaskParts& p = *parts_;
  if (p.recording != nullptr) return Status::error("%s in the function of a graph, which only creates tasks", call);
  HIROBA_TRY(p.reductions->combine());
  Domain& domain = p.flow.domain();
  await(call, domain, [&] { return domain.all_ended(); });
  domain.created = 0, domain.ended.store(0);
  HIROBA_TRY(take_failure(call, domain, p.memory->job().rank, failed));
  Failed none;  // a rank on which a task has failed does not reach this line
  HIROBA_TRY(p.agreement.compare(call, p.flow.made(), failed != nullptr ? *failed : none));
  return {};
}

// Requires that all tasks of all ranks have ended: shared memory is as after a barrier.
Status Tasks::synchronise(const char* call) {
  TaskParts& p = *parts_;
  p.flow.clear();
  p.nesting_check.begin(p.flow.domain());
  p.chart.end_phase();
  p.record.end_phase();
  p.memory->replicas().close();
  return p.memory->job().nnodes > 1 ? p.memory->consistency().sync_drop(call) : p.memory->consistency().barrier(call);
}

Status Tasks::wait_for(std::span<const TaskAccess> accesses, const Spec& spec) {
  std::vector<TaskAccess> reads(accesses.begin(), accesses.end());
  for (TaskAccess& access : reads) access.mode = TaskAccess::in;
  void* argument = nullptr;
  if (running() == nullptr && parts_->recording != nullptr)
    return Status::error("a wait for data in the function of a graph, which only creates tasks");
  HIROBA_TRY(create(reads, spec, argument));
  if (argument == nullptr) return {};
  std::atomic<bool> done{false};
  new (argument) std::atomic<bool>*(&done);
  submit(argument,
         [](void* a, int) { (*static_cast<std::atomic<bool>**>(a))->store(true, std::memory_order_release); });
  Domain& domain = running() != nullptr ? Crew::children_of(*running()) : parts_->flow.domain();
  await("hiroba_taskwait_on", domain, [&] { return done.load(std::memory_order_acquire); });
  if (parts_->memory->checking()) parts_->memory->consistency().note_order();
  return {};
}

Status Tasks::wait_if_failed(const char* call, Failed& failed) {
  failed = {};
  TaskParts& p = *parts_;
  if (Task* const task = running()) {
    const bool any = task->extra != nullptr && task->extra->children != nullptr && task->extra->children->failed.load();
    return any ? wait(call, &failed) : Status();
  }
  bool any = p.flow.domain().failed.load();
  if (p.memory->job().nranks > 1) {
    const auto run_until = [&](const std::function<bool()>& done) { await(call, p.flow.domain(), done); };
    HIROBA_TRY(p.agreement.tell_failed(p.memory->collective(), call, run_until, any));
  }
  return any ? wait(call, &failed) : Status();
}

// Runs tasks until done().
template <typename Done>
void Tasks::await(const char* call, Domain& domain, const Done& done) {
  watched(*parts_, call, domain, [&] { Crew::here()->await(domain, done); });
}

Status Tasks::work_until(int (*done)(void*), void* context) {
  HIROBA_TRY(begin());
  if (Crew::here() == nullptr) return wrong_thread();
  Crew::here()->work_until([&] { return done(context) != 0; });
  return {};
}

int thread_of_task() { return Crew::here() == nullptr ? 0 : Crew::here()->index(); }

// ---- graphs --------------------------------------------------------------------------------------------------------

Status Tasks::make_graph(void (*create)(void*), void* context, TaskGraph*& graph) {
  if (in_task()) return Status::error("a graph of tasks in a task; the program itself makes graphs");
  HIROBA_TRY(begin());
  graph = new TaskGraph{create, context, nullptr};
  return {};
}

Status Tasks::free_graph(TaskGraph& graph) {
  HIROBA_TRY(graph.usable("hiroba_graph_free"));
  if (graph.recorded != nullptr) graph.recorded->discard();
  graph.recorded.reset(), graph.freed = true;
  parts_->freed_graphs.emplace_back(&graph);
  return {};
}

Status Tasks::record(TaskGraph& graph) {
  TaskParts& p = *parts_;
  graph.recorded = std::make_unique<Graph>(*p.memory, p.crew.worker(0), p.events, p.leave_out);
  p.recording = graph.recorded.get();
  p.nesting_check.begin(p.recording->domain());
  for (int pass = 0; pass < Graph::passes; ++pass) {
    p.recording->begin_pass(pass);
    p.reductions->begin_pass();
    graph.create(graph.context);
    HIROBA_TRY(p.reductions->combine());
    p.recording->end_pass(pass);
  }
  p.recording = nullptr;
  p.reductions->end_passes();
  if (graph.recorded->is_regular()) return {};
  return Status::error("the function of a graph has not created as many tasks each time; it must create the same");
}

// If nodes have copies of each other's data, the first iteration is not replayed: it leaves the copies that the next
// one needs.
Status Tasks::run_graph(TaskGraph& graph, int64_t times, const char* call, Failed& failed) {
  TaskParts& p = *parts_;
  HIROBA_TRY(graph.usable(call));
  HIROBA_TRY(wait(call, &failed));
  if (failed.rank >= 0 || times == 0) return {};
  if (p.chart.on()) {  // it records edges when tasks are created
    for (int64_t i = 0; i < times; ++i) graph.create(graph.context);
    return wait(call, &failed);
  }
  if (graph.recorded == nullptr) HIROBA_TRY(record(graph));
  Graph& recorded = *graph.recorded;
  const bool copies = p.memory->job().nnodes > 1;
  recorded.prepare(copies ? times - 1 : times);
  if (copies) {
    graph.create(graph.context);
    HIROBA_TRY(wait_for_all(call, &failed));
  }
  HIROBA_TRY(p.agreement.compare(call, recorded.flow().made(), failed));
  if (failed.rank < 0) {
    watched(p, call, recorded.domain(), [&] { recorded.run(); });
    HIROBA_TRY(take_failure(call, recorded.domain(), p.memory->job().rank, &failed));
  }
  HIROBA_TRY(wait_for_all(call, &failed));
  return synchronise(call);
}

// ---- tasks that end later, or fail ----------------------------------------------------------------------------------

void* Tasks::hold() {
  Task* const task = running();
  if (task != nullptr) Crew::hold(*task), parts_->name_check.hold(*task);
  return task;
}

void Tasks::let_go(void* held) {
  parts_->name_check.let_go(*static_cast<Task*>(held));
  parts_->crew.let_go(*static_cast<Task*>(held));
}

Status Tasks::poll(int (*function)(void*), void* context) {
  if (running() == nullptr) HIROBA_TRY(begin());
  if (Crew::here() == nullptr) return wrong_thread();
  parts_->crew.poll(function, context);
  return {};
}

void Tasks::fail(void* failure, const char* why) {
  Task& task = *running();
  task.domain->fail(new Failure{failure, format("task %s has failed: %s", name_of(task).c_str(), why)});
}

}  // namespace hiroba
