// Parallel regions of all ranks. The program's main runs on rank 0; the other ranks wait, and run their share of each
// region. Within a rank libgomp runs the threads of the share. README.md has the steps.
//
// Owner: the process (instance<Regions>). run() and end() are for rank 0's first thread, serve() for that of the other
// ranks; both block. barrier() is for all threads of a team of all ranks. The rest is thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/memory.hpp"
#include "openmp/member.hpp"
#include "openmp/queues.hpp"
#include "openmp/stacks.hpp"

namespace hiroba::openmp {

using Function = void (*)(void*);

// The work of a region: a function of the program, and what a combined construct begins with.
struct Work {
  Function function = nullptr;
  void* data = nullptr;
  int threads = 0;  // of the team; 0: all
  unsigned flags = 0;
  unsigned sections = 0;
  bool has_loop = false;
  Loop loop = {};
};

// Runs a region on threads of this rank alone, by libgomp: `function(argument)` there calls the program's.
class OwnTeam {
 public:
  OwnTeam(Function function, void* data) : function_(function), data_(data), before_(member) { member = {}; }
  OwnTeam(const OwnTeam&) = delete;
  ~OwnTeam() { member = before_; }
  static void function(void* own);

 private:
  Function function_;
  void* data_;
  Member before_;
};

class Regions {
 public:
  // Shares the program's variables, which it has at these addresses. Collective.
  Status begin(Memory& memory, const Program& program);
  bool started() const { return memory_ != nullptr; }

  // Returns true if a region of this function and number of threads (0: any) is for all ranks.
  bool spans(Function function, int threads) const;
  void run(const Work& work);
  int serve();           // returns the status with which the program ends
  void end(int status);  // the other ranks return from serve()

  void barrier();
  int threads() const { return all_threads_; }
  const Queues& queues() const { return queues_; }
  const Stacks& stacks() const { return stacks_; }
  // Words of the team beside those of loops.
  uint32_t* atomic_lock() const { return &common_->atomic; }
  uint32_t* critical_lock() const { return &common_->critical; }
  void** copied() const { return &common_->copied; }

 private:
  struct Order {
    Work work;
    bool ends;
    int status;
  };
  struct Common {
    Order order;
    alignas(page_bytes) uint32_t atomic;
    alignas(64) uint32_t critical;
    alignas(page_bytes) void* copied;
  };
  struct Share;

  Status agree_on_threads();
  int threads_of(int rank, int threads) const;
  void run_share(const Work& work);
  static void run_member(void* share);
  void wait_for_ranks(const char* call);

  Memory* memory_ = nullptr;
  Program program_;
  Common* common_ = nullptr;
  Stacks stacks_;
  Queues queues_;
  std::vector<int> threads_of_rank_;
  int all_threads_ = 1;
  int most_ = 1;  // threads of a rank
  uint64_t barriers_ = 0;
  uint64_t shares_ = 0;  // loops since the last barrier of the region that has ended
};

}  // namespace hiroba::openmp
