#include "openmp/regions.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/record/record.hpp"
#include "base/wait.hpp"
#include "openmp/program/abi.hpp"
#include "openmp/program/libraries.hpp"
#include "openmp/program/names.hpp"
#include "openmp/program/plain_libraries.hpp"
#include "openmp/program/runtime.hpp"
#include "openmp/program/words.hpp"
#include "openmp/system/output.hpp"
#include "openmp/worksharing/singles.hpp"
#include "process/process.hpp"

namespace hiroba::openmp {

namespace {

LearntPages::Place place_of(const void* code) { return reinterpret_cast<LearntPages::Place>(code); }
LearntPages::Place place_of(Function function) { return reinterpret_cast<LearntPages::Place>(function); }

void begin_interval() {
  ++member.barriers;
  member.shares = member.has_loop ? 1 : 0, member.singles = 0;
}

// A thread that enters a barrier flushes at once: another one may wait, by flushes, for what it has written, and come
// to the barrier only then.
void publish_at_barrier(Memory& memory) {
  instance<Singles>().pass_at_barrier();
  if (!words::program_flushes) return;
  const InRuntime runtime;
  memory.consistency().release_to(0);
}

void open_library(const char* name, int flags) {
  const std::string file = name;
  if (dlopen(file.c_str(), flags) == nullptr)
    end_job(1, "%s, which main has opened by dlopen(), cannot be opened here: %s", file.c_str(), dlerror());
  require(instance<Libraries>().share());
}

}  // namespace

OutsideTeam::OutsideTeam(bool counts) : before_(member) {
  member = {};
  member.inside = before_.spans || before_.inside;
  if (!counts) return;
  if (!before_.spans) member.outer = before_.outer;
  else member.outer = {before_.thread, before_.threads, before_.locals == 1 && before_.threads > 1 ? 1 : 0};
}

// Tasks that run after the function, in libgomp's last barrier of the team, are the program's, too.
void OwnTeam::function(void* own) {
  const OwnTeam& team = *static_cast<OwnTeam*>(own);
  member = {};
  member.inside = team.inside_, member.outer = team.around_;
  in_program = memory_is_shared;
  team.function_(team.data_);
}

// libgomp does not count a level that is active only as a team of all ranks, nor, against a limit, threads of other
// ranks: so each thread of such a team gets the same part of what the limit leaves.
unsigned OwnTeam::threads(unsigned asked) const {
  const bool most = HIROBA_REAL(omp_get_active_level)() + 1 >= HIROBA_REAL(omp_get_max_active_levels)();
  if (around_.active != 0 && most) return 1;
  const int limit = instance<Regions>().settings().limit;
  if (!inside_ || limit == 0) return asked;
  if (!outside_.spanned()) return 1;
  const auto part = static_cast<unsigned>(std::max(1, limit / around_.threads));
  return std::min(part, asked != 0 ? asked : static_cast<unsigned>(HIROBA_REAL(omp_get_max_threads)()));
}

Status Regions::begin(Memory& memory, const Program& program) {
  memory_ = &memory, program_ = program;
  words::between_nodes = memory.job().nnodes > 1, words::checked = memory.checking();
  HIROBA_TRY(share_variables(memory, program, "global variables"));
  HIROBA_REAL(omp_set_dynamic)(0);  // each rank must have the threads that all count on
  HIROBA_TRY(sizes_.agree(memory));
  Arrays::Request common;
  common.element_bytes = sizeof(Common), common.dim = {1}, common.div = {1};
  common.call = "the start of an OpenMP program", common.place = "words of OpenMP";
  common.watched = false, common.closable = true;
  void* at = nullptr;
  HIROBA_TRY(memory.arrays().allocate(common, at));
  common_ = static_cast<Common*>(at);
  cancellation_.begin(common_->cancellation, memory.job().rank, memory.job().nranks);
  instance<Singles>().begin(common_->singles, memory.job().rank, cancellation_);
  HIROBA_TRY(variables_.allocate(memory));
  most_ = std::max(Stacks::least_most, sizes_.largest());
  HIROBA_TRY(stacks_.allocate(memory, most_));
  if (words::checked)
    memory.consistency().name_elements([this](const void* at) {
      const Work& work = common_->order.work;
      const auto* const function = reinterpret_cast<const void*>(work.function);
      return name_of(at, {memory_->job().rank, program_, stacks_.all(), function, work.data});
    });
  HIROBA_TRY(tasks_.begin(memory, common_->tasks, most_));
  learnt_.start(memory);
  return queues_.allocate(memory);
}

// Outside of regions, or in a task there.
bool Regions::may_span() const {
  return started() && is_main_thread && !member.spans && !member.inside && HIROBA_REAL(omp_get_level)() == 0;
}

// Functions of other libraries use the libraries' own variables, which are not shared.
int Regions::team(Function function, unsigned asked) {
  const auto at = reinterpret_cast<uint64_t>(function);
  if (!may_span() || HIROBA_REAL(omp_get_max_active_levels)() == 0) return 0;
  if (!program_.has(at) && !instance<Libraries>().has(at)) return 0;
  int threads = asked != 0 ? static_cast<int>(asked) : requested_threads != 0 ? requested_threads : sizes_.all();
  const int most = std::max(sizes_.all(), most_ * memory_->job().nranks);
  if (threads > most) {
    if (!std::exchange(told_of_most_, true))
      log_line(
          "a parallel region asks for %d threads, and gets %d, for which the ranks have stacks; more: hirobarun "
          "--threads %d",
          threads, most, (threads + memory_->job().nranks - 1) / memory_->job().nranks);
    threads = most;
  }
  if (const int limit = RegionSettings::thread_limit(); limit != 0) threads = std::min(threads, limit);
  // With option check races are looked for between ranks.
  const bool spread = words::checked && threads > 1 && !cancellation_.on();
  return threads >= memory_->job().nranks || spread ? threads : 0;
}

// After the barrier nobody uses the words of the interval before it any more, in which there were `shares` loops.
// Then the threads of this rank go on at `place`, if it is known.
void Regions::wait_for_ranks(const char* call, const void* code, uint64_t shares, LearntPages::Place place) {
  const InRuntime runtime;
  const RecordedCall recorded(code);
  learnt_.end();
  flush_stdout();  // before what others print then
  require(memory_->consistency().barrier(call));
  queues_.clear(barriers_, shares);
  cancellation_.clear(barriers_);
  tasks_.clear(barriers_);
  instance<RegionOutput>().write_given();
  ++barriers_;
  if (place != 0) learnt_.begin(place);
}

// Option check: what lies on the stack here the region may share, so it is watched while the region runs. What the
// region itself puts there is not: it begins on another page.
void Regions::run(const Work& work) {
  char here = 0;
  if (!words::checked || !stacks_.have(&here)) return run_below(work, nullptr);
  struct Below {
    Regions& regions;
    const Work& work;
    char* top;
  };
  Below below = {*this, work, &here - page_bytes - reinterpret_cast<uintptr_t>(&here) % page_bytes};
  const auto run = [](void* argument) {
    const Below& here = *static_cast<const Below*>(argument);
    here.regions.run_below(here.work, here.top);
  };
  Stacks::call_from(below.top, run, &below);
}

// `frames`: where those of the caller begin, if they are to be watched; they have `work`, too.
void Regions::run_below(Work work, const char* frames) {
  instance<PlainLibraries>().look();
  Order& order = common_->order;
  settings_ = RegionSettings::current();
  order = {work, settings_, give_variables(work.data), instance<ProcessState>().give(), false, 0};
  wait_for_ranks("the start of a parallel region", code_of(work.function), 0, place_of(work.function));
  if (frames != nullptr) memory_->consistency().watch_own(frames, stacks_.top(0));
  run_share(work);
  if (frames != nullptr) memory_->consistency().watch_own(nullptr, nullptr);
  instance<ProcessState>().clear();
}

// Structures by which GCC passes variables to threads lie on the stack of main; each has fewer than 512.
bool Regions::give_variables(const void* data) {
  const char* const begin = static_cast<const char*>(data);
  const char* const top = stacks_.top(0);
  return begin < top && top - begin < stacks_.bytes() && variables_.give(begin, std::min(begin + 4096, top));
}

void Regions::give_copied(void* data) {
  common_->copied = data;
  common_->gives_variables = give_variables(data);
  barrier();
}

// Within rank 0 the addresses are right.
void* Regions::take_copied() {
  barrier();
  void* const data = common_->copied;
  if (common_->gives_variables && memory_->job().rank != 0) {
    if (member.local == 0) variables_.take();
    HIROBA_REAL(GOMP_barrier)();
  }
  return data;
}

int Regions::serve() {
  for (;;) {
    wait_for_ranks("the start of a parallel region");
    require(memory_->preloads().start_bytes(&common_->order, sizeof common_->order));
    learnt_.expect();
    const Order order = common_->order;
    if (order.ends) return order.status;
    if (order.library != nullptr) {
      open_library(order.library, order.library_flags);
      wait_for_ranks("dlopen");
      continue;
    }
    if (order.settings != settings_) order.settings.apply();
    settings_ = order.settings;
    if (order.gives_variables) variables_.take();
    if (order.changes != nullptr) instance<ProcessState>().make(order.changes);
    learnt_.begin(place_of(order.work.function));
    run_share(order.work);
  }
}

void Regions::share_library(const char* file, int flags) {
  common_->order = {{}, {}, false, nullptr, false, 0, file, flags};
  wait_for_ranks("dlopen");
  require(instance<Libraries>().share());
  wait_for_ranks("dlopen");  // the file's name is the program's
}

void Regions::end(int status) {
  common_->order = {{}, {}, false, nullptr, true, status};
  wait_for_ranks("the end of the program");
}

struct Regions::Share {
  Regions& regions;
  const Work& work;
  int base, locals;
  static void run_member(void* share);    // a thread's part
  static void run_function(void* share);  // the same on the thread's shared stack
};

void Regions::run_share(const Work& work) {
  const auto rank = static_cast<size_t>(memory_->job().rank);
  team_.clear();
  for (int r = 0; r < memory_->job().nranks; ++r) team_.push_back(sizes_.of(r, work.threads));
  tasks_.begin_region(team_);
  if (team_[rank] == 0) {  // the rank has no thread of the region, and takes part in its barriers
    do wait_for_ranks("a barrier of OpenMP", nullptr, Queues::slots);
    while (common_->end_of_region + 1 != barriers_);
    return;
  }
  Share share = {*this, work, std::accumulate(team_.begin(), team_.begin() + memory_->job().rank, 0), team_[rank]};
  const double begin = recording() ? seconds_now() : 0;
  {
    const Member before = member;
    const InRuntime runtime;
    HIROBA_REAL(GOMP_parallel)(Share::run_member, &share, static_cast<unsigned>(share.locals), work.flags);
    member = before;
  }
  if (recording())
    note_time(site_of(SiteKind::region, code_of(work.function), 0, "parallel region"), 0, seconds_now() - begin);
  // Threads that have left a cancelled region have begun fewer loops than others.
  if (cancellation_.region_was_cancelled()) shares_ = Queues::slots;
  if (rank == 0) common_->end_of_region = barriers_;
  constexpr LearntPages::Place after = 1;  // the serial part after a region is a place, too
  wait_for_ranks("the end of a parallel region", code_of(work.function), shares_, place_of(work.function) + after);
  cancellation_.end_region();
}

void Regions::Share::run_member(void* argument) {
  const Share& share = *static_cast<Share*>(argument);
  const Work& work = share.work;
  const int local = HIROBA_REAL(omp_get_thread_num)(), threads = HIROBA_REAL(omp_get_num_threads)();
  if (threads != share.locals)
    end_job(1,
            "a parallel region got %d threads of this rank in the place of %d; start all ranks with the same "
            "OMP_THREAD_LIMIT",
            threads, share.locals);
  member = {};
  member.spans = true, member.thread = share.base + local, member.threads = work.threads;
  member.local = local, member.locals = share.locals;
  member.barriers = share.regions.barriers_, member.loop = work.loop;
  member.sections = work.sections, member.section = static_cast<unsigned>(member.thread);
  member.has_loop = work.has_loop, member.shares = work.has_loop ? 1 : 0;
  Stacks::handle_faults_elsewhere();
  // So it stays to the end of libgomp's last barrier, where tasks of the program may run.
  in_program = memory_is_shared;
  // Rank 0's first thread is on its shared stack already.
  if (is_main_thread) run_function(argument);
  else share.regions.stacks_.call_on(local, run_function, argument);
  if (local == 0) share.regions.shares_ = member.shares;
}

void Regions::Share::run_function(void* argument) {
  const Share& share = *static_cast<Share*>(argument);
  Tasks& tasks = share.regions.tasks_;
  member.frame = __builtin_frame_address(0);
  tasks.begin_member();
  share.work.function(share.work.data);
  publish_at_barrier(*share.regions.memory_);
  tasks.end_all();
  tasks.end_member();
}

// The threads of the rank meet, with their tasks done; then the ranks; then the threads go on.
void Regions::barrier(const void* place) {
  publish_at_barrier(*memory_);
  tasks_.end_all();
  {
    const InLibgomp libgomp(tasks_.worker());
    HIROBA_REAL(GOMP_barrier)();
  }
  if (member.local == 0) wait_for_ranks("a barrier of OpenMP", place, member.shares, place_of(place));
  if (member.locals > 1) HIROBA_REAL(GOMP_barrier)();
  begin_interval();
}

// All have read the address before thread 0 may store the next one.
void* Regions::team_memory(size_t bytes) {
  if (member.thread == 0) common_->copied = std::calloc(1, bytes);
  barrier();
  void* const memory = common_->copied;
  barrier();
  return memory;
}

// The ranks may call the barrier of the memory floor only if all do: they count arrivals until all have arrived,
// or the region is cancelled. A thread that cancels it arrives at no barrier, so not both can happen.
bool Regions::barrier_or_cancel(const void* place) {
  if (!cancellation_.on()) return barrier(place), false;
  publish_at_barrier(*memory_);
  if (HIROBA_REAL(GOMP_barrier_cancel)()) return true;
  if (member.local == 0) {
    if (!cancellation_.await_arrivals()) return true;
    wait_for_ranks("a barrier of OpenMP", place, member.shares, place_of(place));
  }
  begin_interval();
  return member.locals > 1 && HIROBA_REAL(GOMP_barrier_cancel)();
}

}  // namespace hiroba::openmp
