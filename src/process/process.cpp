#include "process/process.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <ranges>

#include "base/debug/interpreter.hpp"
#include "base/debug/whereabouts.hpp"
#include "base/debugger.hpp"
#include "base/ending.hpp"
#include "base/log.hpp"
#include "base/secure.hpp"
#include "base/tables/launchers.hpp"
#include "base/tables/phrases.hpp"
#include "base/thread.hpp"

namespace hiroba {

namespace {

struct Process {
  std::unique_ptr<Memory> memory;
  std::span<Model* const> models;
  int rank = 0;
  std::atomic<bool> models_used{false};  // any of them; without, a lock costs no look at each
  bool ended = false;
  bool forked = false;              // set in a child that a rank has forked: a copy of all this, and no rank
  std::array<char, 4096> output{};  // what stdout has of a line that is not complete
};

Process& process() { return instance<Process>(); }

// Adds the rank to messages before the start, too, if hirobarun has set it; only the first rank that fails prints one.
void introduce() {
  if (!Job::in_environment()) return;
  Job job;
  const Status described = Job::from_environment(job);
  set_reporter(job.rank, nullptr);
  require(described);
  Board* board = nullptr;
  require(map_board(job, board));
  set_reporter(job.rank, &board->aborting);
}

// With glibc, exit() in an exit handler continues with the remaining handlers, and with the new status.

bool system_keeps(int status) { return status == 0 || (status & 0xff) != 0; }

// If a program exits without the end of its job, the others wait for it. The program's own exit handlers may run before
// or after this one; the shared memory stays usable.
void left_early(int status, void*) {
  Process& p = process();
  if (p.memory == nullptr) {
    if (p.ended && status == 0 && findings() > 0) exit(1);
    return;
  }
  RankBoard& self = p.memory->collective().world().board->rank(p.rank);
  if (self.pid != getpid()) return;  // a child that the program forked
  const int kept = (status & 0xff) == 0 ? 1 : status & 0xff;
  signal(SIGTERM, SIG_IGN);  // the launcher ends the ranks of a failed job by it
  self.phase = Phase::leaving;
  leave_by_exit(kept);
  flush_stdout();
  if (first_to_report(kept))
    log_line("the program ended with status %d%s, by %s, before %s", status,
             system_keeps(status) ? "" : ", of which the system keeps 0", phrases().exit, phrases().end);
  report_models();
  run_exit_hook();
  if (p.memory->job().nranks > 1) end_at_latest_in(leaving_seconds, kept);
  tell_launcher_afterwards(kept);
  if (kept != status) exit(kept);
}

// Registered before any handler of the program, so it runs after them.
void check_status(int status, void* pid) {
  if (system_keeps(status) || reinterpret_cast<intptr_t>(pid) != getpid()) return;
  Job job;
  Board* board = nullptr;
  if (Job::in_environment()) {
    if (Job::from_environment(job).ok() && map_board(job, board).ok()) board->rank(job.rank).exit_status = status;
  } else {
    if (launching_mpi().empty()) return;
    log_line("the program ended with status %d, of which the system keeps 0; the status of this rank is 1", status);
  }
  exit(1);
}

const int status_checked =
    on_exit(check_status,
            reinterpret_cast<void*>(static_cast<intptr_t>(getpid())));  // NOLINT(performance-no-int-to-ptr)

}  // namespace

void require(const Status& status) {
  if (!status.ok()) end_job(1, "%s", status.message().c_str());
}

void require_at(const Status& status, const char* place) {
  if (!status.ok()) end_job(1, "%s: %s", place, status.message().c_str());
}

void start_process(const char* call, std::span<Model* const> models) {
  Process& p = process();
  if (p.memory != nullptr) end_job(1, "%s called twice", call);
  if (p.ended) end_job(1, "%s after %s; a job starts once", call, phrases().end);
  require(refuse_more_rights());
  introduce();
  Options options;
  require(Options::from_environment(options));
  p.models = models;
  const auto listen = [models](Transport& transport, const Job& job) -> Status {
    for (Model* model : models) HIROBA_TRY(model->listen(transport, job));
    return {};
  };
  require(Memory::start(options, call, listen, p.memory));
  for (Model* model : models) require(model->start(*p.memory, options));
  const Job& job = p.memory->job();
  p.rank = job.rank;
  if (job.launched) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a killed hirobarun leaves no process, also below a wrapper script
  }
  // The output is a pipe to the launcher: stdio would buffer whole pages, and a rank that is killed would lose them.
  // MPICH takes the buffer away, and pieces of lines of several ranks would come among each other.
  if (job.launched || job.nranks > 1) setvbuf(stdout, p.output.data(), _IOLBF, p.output.size());
  on_exit(left_early, nullptr);
  pthread_atfork(nullptr, nullptr, [] { process().forked = true; });
  Debugging debugging;
  require(Debugging::from_option(options.text("debug"), job.rank, job.nranks, debugging));
  set_debugging(debugging, job.rank);
  set_program_line(python_line);
  stop_at_start();
  for (Model* model : models) model->begin();
}

// From the upper floors down, each completes its operations with other ranks; the last barrier is in Memory::stop(),
// and after it nothing remote happens.
void end_process(const char* call) {
  Process& p = process();
  require(p.memory->collective().requests().none_left());
  const auto upper_first = std::views::reverse(p.models);
  for (Model* model : upper_first) require(model->finish());
  require(p.memory->locks().none_held(phrases().end));  // before others that want one are waited for
  for (Model* model : upper_first) require(model->stop(phrases().end));
  require(p.memory->stop(call));
  p.memory.reset();
  p.ended = true;
  for (Model* model : upper_first) model->ended();
  if (findings() > 0)
    log_line("check: %d mistake%s found; the exit status of the job is 1", findings(), findings() == 1 ? "" : "s");
}

bool process_started() { return process().memory != nullptr; }

void end_at_exit(void (*end)(int status)) {
  on_exit(
      [](int status, void* end) {
        if (process_started() && !process().forked) reinterpret_cast<void (*)(int)>(end)(status);
      },
      reinterpret_cast<void*>(end));
}

bool launched_with_others() {
  if (!Job::in_environment()) return !launching_mpi().empty();
  Job job;
  return !Job::from_environment(job).ok() || job.nranks > 1;  // the start of the job tells what is wrong
}

Memory& process_memory(const char* call) {
  Process& p = process();
  if (p.forked) {
    log_line(
        "%s%s in process %d, a child that this rank has made by fork and that is no rank; only the rank itself "
        "may call Hiroba: let the child compute and leave by _exit(), or execute another program",
        call, interpreted_place().c_str(), static_cast<int>(getpid()));
    _exit(1);
  }
  if (p.memory != nullptr) return *p.memory;
  not_started(call, "sms_startup", "sms_shutdown");
}

void not_started(const char* call, const char* begin, const char* end) {
  if (process().ended) end_job(1, "%s after %s; move it before", call, end);
  introduce();
  end_job(1, "%s before %s; call %s(&argc, &argv) first", call, begin, begin);
}

void Model::begin_use() {
  used_.store(true, std::memory_order_relaxed);
  process().models_used.store(true, std::memory_order_relaxed);
}

void end_work(const char* call) {
  for (Model* model : process().models)
    if (model->used()) require(model->end_work(call));
}

void begin_barrier(const char* call, bool work_ends) {
  if (work_ends) end_work(call);
  for (Model* model : process().models)
    if (model->used()) require(model->before_barrier());
}

void require_unused(const Model::Use& use) {
  for (const Model* model : process().models)
    if (model->used()) model->require_unused(use);
}

void require_outside_work(const char* call) {
  for (const Model* model : process().models)
    if (model->used()) model->require_outside_work(call);
}

void require_all_ranks(const char* call) {
  for (const Model* model : process().models)
    if (model->used()) model->require_all_ranks(call);
}

void require_lockable(const char* call) {
  if (!process().models_used.load(std::memory_order_relaxed)) return;
  for (const Model* model : process().models)
    if (model->used()) model->require_lockable(call);
}

void report_models() {
  for (const Model* model : process().models) model->report();
}

}  // namespace hiroba
