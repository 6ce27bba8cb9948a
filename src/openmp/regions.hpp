// Parallel regions of all ranks. The program's main runs on rank 0; the other ranks wait, and run their share of each
// region. Within a rank libgomp runs the threads of the share. README.md has the steps.
//
// Owner: the process (instance<Regions>). run() and end() are for rank 0's first thread, serve() for that of the other
// ranks; both block. barrier() is for all threads of a team of all ranks. The rest is thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/memory.hpp"
#include "openmp/learnt_pages.hpp"
#include "openmp/program/member.hpp"
#include "openmp/program/runtime.hpp"
#include "openmp/program/stacks.hpp"
#include "openmp/program/threadprivate.hpp"
#include "openmp/settings.hpp"
#include "openmp/system/process_state.hpp"
#include "openmp/tasks.hpp"
#include "openmp/worksharing/cancellation.hpp"
#include "openmp/worksharing/queues.hpp"

namespace hiroba::openmp {

using Function = void (*)(void*);

// The work of a region: a function of the program, and what a combined construct begins with.
struct Work {
  Function function = nullptr;
  void* data = nullptr;
  int threads = 0;  // of the team
  unsigned flags = 0;
  unsigned sections = 0;
  bool has_loop = false;
  Loop loop = {};
};

// While it lives, this thread is in no team of all ranks: libgomp has a team, or none, of its own within it.
class OutsideTeam {
 public:
  // `counts`: functions that ask for levels of teams still see the team of all ranks.
  explicit OutsideTeam(bool counts);
  OutsideTeam(const OutsideTeam&) = delete;
  ~OutsideTeam() { member = before_; }
  // Returns true if the thread was in a team of all ranks, and not in one of its own within it.
  bool spanned() const { return before_.spans; }

 private:
  Member before_;
};

// Runs a region on threads of this rank alone, by libgomp: `function(argument)` there calls the program's.
class OwnTeam {
 public:
  OwnTeam(Function function, void* data)
      : outside_(true), function_(function), data_(data), inside_(member.inside), around_(member.outer) {}
  OwnTeam(const OwnTeam&) = delete;
  static void function(void* own);
  // Returns the number of threads to ask libgomp for, if the program has asked for `asked`.
  unsigned threads(unsigned asked) const;

 private:
  OutsideTeam outside_;
  Function function_;
  void* data_;
  bool inside_;
  Member::Outer around_;
  InProgram program_;
};

class Regions {
 public:
  // Shares the program's variables, which it has at these addresses. Collective.
  Status begin(Memory& memory, const Program& program);
  bool started() const { return memory_ != nullptr; }

  // Returns the number of threads of a region of this function, which asks for `asked` threads (0: any), if it is for
  // all ranks; else 0.
  int team(Function function, unsigned asked);
  // Returns true if this thread may begin regions of all ranks.
  bool may_span() const;
  void run(const Work& work);
  // Main has opened a library of the program's own by dlopen(): the other ranks do so, too, and all share its
  // variables.
  void share_library(const char* file, int flags);
  int serve();           // returns the status with which the program ends
  void end(int status);  // the other ranks return from serve()

  // The place is in the program, after the barrier.
  void barrier(const void* place = __builtin_return_address(0));
  // The same in a region that can be cancelled; returns true if it is.
  bool barrier_or_cancel(const void* place = __builtin_return_address(0));
  Cancellation& cancellation() { return cancellation_; }
  Tasks& tasks() { return tasks_; }
  // Returns memory for the team, whose threads all call it: zeros, at the same address. One of them frees it.
  void* team_memory(size_t bytes);
  const TeamSizes& sizes() const { return sizes_; }
  // Returns the settings of the region of all ranks that runs.
  const RegionSettings& settings() const { return settings_; }
  const Queues& queues() const { return queues_; }
  const Stacks& stacks() const { return stacks_; }
  // Words of the team beside those of loops.
  struct Locks {
    alignas(page_bytes) uint32_t atomic;
    alignas(64) uint32_t critical;
    alignas(64) uint32_t wide;  // atomic operations on large objects
  };
  Locks& locks() const { return common_->locks; }
  // For copyprivate: thread 0 gives the data of the others, who take it after a barrier.
  void give_copied(void* data);
  void* take_copied();
  // Returns true if serve() must not run in the first thread of its rank.
  bool serves_elsewhere() const { return variables_.any(); }

 private:
  struct Order {
    Work work;
    RegionSettings settings;
    bool gives_variables;
    const ProcessState::Change* changes;
    bool ends;
    int status;
    const char* library = nullptr;  // to be opened by dlopen()
    int library_flags = 0;
  };
  struct Common {
    Order order;
    // The number of the barrier at the end of the latest region that has come to it. It has a page of its own, because
    // all ranks copy the order's page in each region.
    alignas(page_bytes) uint64_t end_of_region;
    Locks locks;
    alignas(page_bytes) void* copied;
    bool gives_variables;
    alignas(page_bytes) Cancellation::Words cancellation;
    Tasks::Words tasks;
    alignas(64) int64_t singles;
  };
  struct Share;

  void run_below(Work work, const char* frames);
  void run_share(const Work& work);
  bool give_variables(const void* data);
  // `code`: the place of the wait for option report, as a return address; null: it is not known.
  void wait_for_ranks(const char* call, const void* code = nullptr, uint64_t shares = 0, LearntPages::Place place = 0);

  Memory* memory_ = nullptr;
  Program program_;
  Common* common_ = nullptr;
  RegionSettings settings_;
  MainVariables variables_;
  Cancellation cancellation_;
  Tasks tasks_;
  Stacks stacks_;
  Queues queues_;
  LearntPages learnt_;
  TeamSizes sizes_;
  std::vector<int> team_;  // threads of each rank in the region
  int most_ = 1;           // threads of a rank
  bool told_of_most_ = false;
  uint64_t barriers_ = 0;
  uint64_t shares_ = 0;  // loops since the last barrier of the region that has ended
};

}  // namespace hiroba::openmp
