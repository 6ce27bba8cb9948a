// The C entry points of task.h: they translate arguments for the floor of tasks, and end the job on its errors.
#define HIROBA_NO_PLACES
#include "task.h"

#include <unistd.h>

#include <cstring>
#include <type_traits>

#include "base/log.hpp"
#include "base/thread.hpp"
#include "notation/collective/collective_process.hpp"
#include "notation/task/task_process.hpp"
#include "process/process.hpp"
#include "task/task.hpp"

#define TASK_EXPORT extern "C" __attribute__((visibility("default")))

namespace hiroba {

namespace {

// Lists of accesses are passed on as they are.
static_assert(sizeof(TaskSection) == sizeof(hiroba_section) &&
              offsetof(TaskSection, address) == offsetof(hiroba_section, address) &&
              offsetof(TaskSection, bytes) == offsetof(hiroba_section, bytes) &&
              offsetof(TaskSection, dims) == offsetof(hiroba_section, dims) &&
              offsetof(TaskSection, count) == offsetof(hiroba_section, count) &&
              offsetof(TaskSection, stride) == offsetof(hiroba_section, stride) &&
              TaskSection::most_dims == HIROBA_SECTION_DIMS);
static_assert(sizeof(TaskAccess) == sizeof(hiroba_access) &&
              offsetof(TaskAccess, mode) == offsetof(hiroba_access, mode) &&
              offsetof(TaskAccess, tile) == offsetof(hiroba_access, tile) &&
              offsetof(TaskAccess, section) == offsetof(hiroba_access, section) &&
              offsetof(TaskAccess, op) == offsetof(hiroba_access, op) &&
              offsetof(TaskAccess, type) == offsetof(hiroba_access, type));
static_assert(sizeof(TaskLabel) == sizeof(hiroba_task_label));
constexpr bool equal(int floor, int notation) { return floor == notation; }
static_assert(equal(TaskAccess::in, HIROBA_IN) && equal(TaskAccess::out, HIROBA_OUT) &&
              equal(TaskAccess::inout, HIROBA_INOUT) && equal(TaskAccess::commutative, HIROBA_COMMUTATIVE) &&
              equal(TaskAccess::concurrent, HIROBA_CONCURRENT) && equal(TaskAccess::reduction, HIROBA_REDUCTION));
static_assert(equal(Tasks::anywhere, HIROBA_ANYWHERE) && Tasks::argument_bytes == HIROBA_TASK_ARGUMENT);

class TaskModel final : public Model {
 public:
  Tasks tasks;
  std::vector<std::atomic<const char*>> names;  // of the tasks that threads run; none without option power

  Status listen(Transport& transport, const Job& job) override { return tasks.listen(transport, job); }
  Status start(Memory& memory, const Options& options) override {
    Tasks::Settings settings;
    settings.threads = threads_per_rank();
    settings.window = static_cast<size_t>(options.number("task-window"));
    settings.seed = static_cast<uint64_t>(options.number("chaos"));
    settings.graph = options.text("task-graph");
    settings.report = !options.text("report").empty();
    if (options.flag("power")) names = std::vector<std::atomic<const char*>>(static_cast<size_t>(settings.threads));
    settings.names = names;
    tasks.start(memory, settings);
    return {};
  }
  Status end_work(const char* call) override {
    require_outside_work(call);
    return tasks.any() ? tasks.wait(call, nullptr) : Status();
  }
  Status finish() override { return tasks.stop(); }

  void require_outside_work(const char* call) const override {
    if (in_task()) refuse(call, "; it is a call of the program, which all ranks make outside of tasks: call it");
  }
  void require_all_ranks(const char* call) const override {
    if (in_lone_task())
      refuse(call,
             ", which this rank runs alone, so the call would wait for the other ranks for ever; call it outside of "
             "tasks,");
  }
  void require_unused(const Use& use) const override {
    if (in_task() || !tasks.use(use.data, use.bytes, use.writes)) return;
    Array* array = nullptr;
    const bool shared = process_memory(use.call).arrays().find(use.data, array).ok();
    end_job(1,
            "%s: %s: tasks that have not ended use %s, %zu bytes%s%s; call hiroba::taskwait before (hiroba_taskwait in "
            "C)",
            use.place, use.call, use.which, use.bytes, shared ? " from " : "",
            shared ? element_name(*array, static_cast<const char*>(use.data) - array->data).c_str() : "");
  }

 private:
  [[noreturn]] static void refuse(const char* call, const char* why) {
    end_job(1, "%s in task %s%s after hiroba::taskwait (hiroba_taskwait in C)", call, running_task().c_str(), why);
  }
};

Tasks& tasks() { return used_instance<TaskModel>().tasks; }
Tasks& tasks(const char* call) {
  (void)process_memory(call);
  return tasks();
}
// For calls that have an effect each time.
Tasks& tasks_for(const char* call) {
  require_lockable(call);
  return tasks(call);
}

[[noreturn, gnu::cold]] void refuse(const hiroba_section& section, int access, const char* place) {
  const Memory& memory = process_memory("a task");
  Array* array = nullptr;
  std::string where = "private memory";
  if (memory.arrays().find(section.address, array).ok())
    where = element_name(*array, static_cast<char*>(section.address) - array->data);
  int d = 0;
  while (d < section.dims && section.count[d] >= 0) ++d;
  if (d < section.dims)
    end_job(1, "%s: access %d of a task has %ld blocks along dimension %d of a section that begins at %s; at least 0",
            place, access, section.count[d], d, where.c_str());
  end_job(1, "%s: access %d of a task has %ld bytes from %s on; at least 0", place, access, section.bytes,
          where.c_str());
}

// Returns true for a negative number of blocks or bytes.
bool negative(const hiroba_section& section) {
  bool found = static_cast<int64_t>(section.bytes) < 0;
  for (int d = 0; d < section.dims; ++d) found = found || section.count[d] < 0;
  return found;
}

void check_reduction(const hiroba_access& access, int number, const char* place) {
  if (access.op >= reductions || access.type >= types)
    end_job(1,
            "%s: access %d of a task is a reduction with operator %d and type %d; hiroba_use_reduction makes it from "
            "HIROBA_SUM or such and HIROBA_DOUBLE or such",
            place, number, access.op, access.type);
  const auto type = static_cast<Type>(access.type);
  Combine combine;
  require_at(Combine::make(type, reduction_op[access.op], combine), place);
  if (access.section.dims != 0 || access.section.bytes % bytes_of(type) != 0 || access.tile != nullptr)
    end_job(1,
            "%s: access %d of a task is a reduction of a section in %d dimensions, of %zu bytes, %s tile; give "
            "contiguous elements of type %s, without a tile",
            place, number, access.section.dims, access.section.bytes, access.tile != nullptr ? "of a" : "without a",
            name_of(type));
}

std::span<const TaskAccess> list(const hiroba_access* accesses, int count, const char* place) {
  if (count < 0) end_job(1, "%s: a task with %d accesses; it must not be negative", place, count);
  for (int i = 0; i < count; ++i) {
    const hiroba_section& section = accesses[i].section;
    if (section.dims < 0 || section.dims > HIROBA_SECTION_DIMS)
      end_job(1, "%s: access %d of a task has a section with %d dimensions; at most %d", place, i, section.dims,
              HIROBA_SECTION_DIMS);
    if (negative(section)) refuse(section, i, place);
    if (accesses[i].mode == HIROBA_REDUCTION) check_reduction(accesses[i], i, place);
  }
  return {reinterpret_cast<const TaskAccess*>(accesses), static_cast<size_t>(count)};
}

Tasks::Spec spec_of(const hiroba_task_spec& spec) {
  if (spec.priority < 0 || spec.priority > INT16_MAX)
    end_job(1, "%s: the priority of a task is %d; it is 0 to %d", spec.label->place, spec.priority, INT16_MAX);
  return {reinterpret_cast<const TaskLabel*>(spec.label), spec.on, static_cast<int16_t>(spec.priority)};
}

// The message of a failed task that the program got, for the end of the job if it does not handle the failure.
std::string& last_failure() {
  thread_local std::string text;
  return text;
}

int tell_program(const Tasks::Failed& failed, const char* place, void** failure) {
  *failure = failed.what;
  if (failed.rank >= 0)
    last_failure() = failed.what != nullptr ? format("%s: %s", place, failed.text.c_str())
                                            : format("%s: a task has failed on rank %d", place, failed.rank);
  return failed.rank;
}

// The argument of a task of C, before the copied data.
struct FunctionCall {
  void (*function)(void*);
  void* argument;  // null: it follows
};

}  // namespace

const char* task_running_on(int thread) { return instance<TaskModel>().names[thread].load(std::memory_order_relaxed); }
Model& task_model() { return instance<TaskModel>(); }

TASK_EXPORT void* hiroba_task_create(const hiroba_access* accesses, int count, const hiroba_task_spec* spec) {
  void* argument = nullptr;
  const char* const place = spec->label->place;
  require_at(tasks_for("a task").create(list(accesses, count, place), spec_of(*spec), argument), place);
  return argument;
}

TASK_EXPORT void hiroba_task_submit(void* argument, void (*body)(void* argument, int run)) {
  static_assert(std::is_same_v<Tasks::Body, void (*)(void*, int)>);
  tasks().submit(argument, body);
}

TASK_EXPORT void hiroba_task_at(void (*function)(void*), void* argument, const hiroba_access* accesses, int count,
                                const hiroba_task_spec* spec) {
  void* const room = hiroba_task_create(accesses, count, spec);
  if (room == nullptr) return;
  const FunctionCall call = {function, argument};
  std::memcpy(room, &call, sizeof call);
  hiroba_task_submit(room, [](void* a, int run) {
    FunctionCall c;
    std::memcpy(&c, a, sizeof c);
    if (run != 0) c.function(c.argument);
  });
}

TASK_EXPORT void hiroba_task_copy_at(void (*function)(void*), const void* value, size_t bytes,
                                     const hiroba_access* accesses, int count, const hiroba_task_spec* spec) {
  char* const room = static_cast<char*>(hiroba_task_create(accesses, count, spec));
  if (room == nullptr) return;
  const bool in_place = sizeof(FunctionCall) + bytes <= HIROBA_TASK_ARGUMENT;
  const FunctionCall call = {function, in_place ? nullptr : std::malloc(bytes)};
  if (!in_place && call.argument == nullptr)
    end_job(1, "%s: no memory for the argument of a task, %zu bytes", spec->label->place, bytes);
  std::memcpy(room, &call, sizeof call);
  std::memcpy(in_place ? room + sizeof call : call.argument, value, bytes);
  hiroba_task_submit(room, [](void* a, int run) {
    FunctionCall c;
    std::memcpy(&c, a, sizeof c);
    if (run != 0) c.function(c.argument != nullptr ? c.argument : static_cast<char*>(a) + sizeof c);
    std::free(c.argument);
  });
}

TASK_EXPORT int hiroba_taskwait_failed(const char* place, void** failure) {
  Tasks::Failed failed;
  Tasks& t = tasks_for("hiroba_taskwait");
  const bool inside = in_task();
  require_at(t.wait("hiroba_taskwait", &failed), place);
  // Not earlier: a rank in the barrier runs no tasks, for which others may wait.
  if (!inside) begin_barrier("hiroba_taskwait", false);
  return tell_program(failed, place, failure);
}

TASK_EXPORT void hiroba_taskwait_at(const char* place) {
  Tasks& t = tasks_for("hiroba_taskwait");
  const bool inside = in_task();
  require_at(t.wait("hiroba_taskwait", nullptr), place);
  if (!inside) begin_barrier("hiroba_taskwait", false);
}

TASK_EXPORT void hiroba_taskwait_here(const hiroba_access* accesses, int count, const hiroba_task_spec* spec) {
  const char* const place = spec->label->place;
  require_at(tasks_for("hiroba_taskwait_on").wait_for(list(accesses, count, place), spec_of(*spec)), place);
}

TASK_EXPORT int hiroba_taskwait_on_failed(const hiroba_access* accesses, int count, const hiroba_task_spec* spec,
                                          void** failure) {
  const char* const place = spec->label->place;
  hiroba_taskwait_here(accesses, count, spec);
  Tasks::Failed failed;
  Tasks& t = tasks("hiroba_taskwait_on");
  const bool inside = in_task();
  require_at(t.wait_if_failed("hiroba_taskwait_on", failed), place);
  if (!inside && failed.rank >= 0) begin_barrier("hiroba_taskwait_on", false);
  return tell_program(failed, place, failure);
}

TASK_EXPORT void hiroba_taskwait_on_at(const hiroba_access* accesses, int count, const hiroba_task_spec* spec) {
  void* failure = nullptr;
  if (hiroba_taskwait_on_failed(accesses, count, spec, &failure) >= 0) hiroba_task_uncaught();
}

// The rank on which the task has failed knows more, and ends the job in the meantime.
TASK_EXPORT void hiroba_task_uncaught(void) {
  const bool of_another_rank = last_failure().find("a task has failed on rank") != std::string::npos;
  if (of_another_rank) sleep(2);
  end_job(1, "%s, and the program has not handled that at this wait (in C++: try and catch)", last_failure().c_str());
}

TASK_EXPORT void hiroba_task_parts_at(int on, const char* place) {
  tasks("hiroba_task_parts");
  require_outside_work(Call{"hiroba_task_parts", place}.text().c_str());
  require_at(tasks("hiroba_task_parts").allow_parts(on != 0), place);
}

TASK_EXPORT hiroba_graph* hiroba_graph_create(void (*create)(void* context), void* context, const char* place) {
  TaskGraph* graph = nullptr;
  tasks("a graph of tasks");
  require_outside_work(Call{"hiroba_graph_create", place}.text().c_str());
  require_at(tasks("a graph of tasks").make_graph(create, context, graph), place);
  return reinterpret_cast<hiroba_graph*>(graph);
}

TASK_EXPORT int hiroba_graph_run(hiroba_graph* graph, int64_t times, const char* place, void** failure) {
  if (graph == nullptr) end_job(1, "%s: hiroba_graph_run of NULL; hiroba_graph_create returns a graph", place);
  if (times < 0) end_job(1, "%s: a graph of tasks to be run %ld times", place, times);
  tasks("hiroba_graph_run");
  require_outside_work(Call{"hiroba_graph_run", place}.text().c_str());
  Tasks::Failed failed;
  require_at(
      tasks("hiroba_graph_run").run_graph(reinterpret_cast<TaskGraph&>(*graph), times, "hiroba_graph_run", failed),
      place);
  return tell_program(failed, place, failure);
}
TASK_EXPORT void hiroba_graph_free(hiroba_graph* graph) {
  if (graph == nullptr) return;
  require_at(tasks().free_graph(reinterpret_cast<TaskGraph&>(*graph)), "hiroba_graph_free");
}

TASK_EXPORT hiroba_access hiroba_use_reduction(hiroba_op op, hiroba_type type, void* address, int64_t count) {
  const Combine combine = combine_of(op, type, "hiroba_use_reduction");
  if (op->function != nullptr)
    end_job(
        1,
        "hiroba_use_reduction: operator %s is a function; tasks reduce with HIROBA_SUM and its like, and in C++ with "
        "hiroba::reducer",
        op->name == nullptr ? "without a name" : op->name);
  if (count < 0) end_job(1, "hiroba_use_reduction: %ld elements; at least 0", count);
  hiroba_access access = hiroba_use(HIROBA_REDUCTION, address, combine.element() * static_cast<size_t>(count));
  access.op = static_cast<uint8_t>(op - hiroba_operators), access.type = static_cast<uint8_t>(type);
  return access;
}

TASK_EXPORT void* hiroba_task_part(int access, const void* address) {
  void* const part = part_of_reduction(access, static_cast<const char*>(address));
  if (part == nullptr)
    end_job(1, "hiroba_task_part(%d, ..): access %d of the calling task is no reduction", access, access);
  return part;
}

TASK_EXPORT void* hiroba_task_hold(void) {
  void* const held = tasks("hiroba_task_hold").hold();
  if (held == nullptr) end_job(1, "hiroba_task_hold outside of a task; the function of a task calls it");
  return held;
}
TASK_EXPORT int hiroba_task_inside(void) {
  tasks("hiroba_task_inside");
  return in_task() ? 1 : 0;
}
TASK_EXPORT int hiroba_task_thread(void) {
  tasks("hiroba_task_thread");
  return thread_of_task();
}
TASK_EXPORT int hiroba_task_threads(void) { return tasks("hiroba_task_threads").threads(); }

TASK_EXPORT void hiroba_task_work_until(int (*done)(void* context), void* context) {
  require_at(tasks("hiroba_task_work_until").work_until(done, context), "hiroba_task_work_until");
}

TASK_EXPORT void hiroba_task_let_go(void* held) { tasks().let_go(held); }
TASK_EXPORT void hiroba_task_poll(int (*poll)(void* context), void* context) {
  require_at(tasks("hiroba_task_poll").poll(poll, context), "hiroba_task_poll");
}
// A request whose task has returned.
struct AwaitedByTask {
  hiroba_request request;
  const char* place;
  void* held;
  static int poll(void* context) {
    auto* const self = static_cast<AwaitedByTask*>(context);
    if (!test(&self->request, "hiroba_task_iwait", self->place)) return 1;
    const std::unique_ptr<AwaitedByTask> now(self);
    hiroba_task_let_go(now->held);
    return 0;
  }
};

TASK_EXPORT void hiroba_task_iwait_at(hiroba_request* request, const char* place) {
  const char* const call = "hiroba_task_iwait";
  void* const held = tasks(call).hold();
  if (held == nullptr)
    end_job(1, "%s: %s outside of a task; the function of a task calls it, other code hiroba_wait", place, call);
  auto* const awaited = new AwaitedByTask{std::exchange(*request, hiroba_request{}), place, held};
  // Option check takes what the function of a task writes for the task's, so it must not return before.
  if (process_memory(call).checking()) wait(&awaited->request, {call, place}, place);
  hiroba_task_poll(AwaitedByTask::poll, awaited);
}
TASK_EXPORT void hiroba_task_fail(void* failure, const char* why) {
  Tasks& t = tasks("hiroba_task_fail");
  if (!in_task()) end_job(1, "hiroba_task_fail outside of a task; the function of a task calls it");
  t.fail(failure, why != nullptr ? why : "it has called hiroba_task_fail");
}

}  // namespace hiroba
