// Reductions of tasks: a task that names a section as a reduction does not use it, but parts of it that the threads of
// its rank have, which begin with the neutral value. When the sequence comes to a task that uses the section otherwise,
// or to a wait, tasks are created that combine the parts into the section, one for each rank that has run some of them.
//
// Owner: of Reductions, Tasks for the program's sequence and for the tasks that a task creates; for the thread that
// creates these. Parts are owned by the tasks that use them, and by the one that combines them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "task/task.hpp"

namespace hiroba {

// What the threads of this rank have of one section.
class ReductionParts {
 public:
  explicit ReductionParts(const TaskAccess& access) : target_(access) {}
  // Tasks that use the parts name this; those that add to them as concurrent.
  TaskAccess ordered(TaskAccess::Mode mode);
  void allocate(int threads);  // before the first task of this rank that uses them
  // Where a thread has what is at the address, for addresses of the section.
  char* moved(int thread, const char* address) const;
  void combine();  // into the section; the parts are neutral again

 private:
  void reset();
  char* part(int thread) const { return parts_.get() + static_cast<size_t>(thread) * stride_; }

  struct Free {
    void operator()(char* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
  };
  const TaskAccess target_;
  int threads_ = 0;
  size_t stride_ = 0;
  std::unique_ptr<char[], Free> parts_;
};

class Reductions {
 public:
  // How tasks of the sequence are created.
  struct Sequence {
    const Memory* memory;
    int threads, ranks;  // ranks: that the tasks are divided among; those of a task run where it does
    std::function<Status(std::span<const TaskAccess>, const Tasks::Spec&, void*& argument)> create;
    std::function<void(void* argument, Tasks::Body)> submit;
  };
  explicit Reductions(Sequence sequence) : sequence_(std::move(sequence)) {}

  // Whether create() is to create a task with these.
  bool concern(std::span<const TaskAccess> accesses) const;
  Status create(std::span<const TaskAccess> accesses, const Tasks::Spec& spec, void*& argument);
  // All that are open.
  Status combine();
  // While a graph is recorded: each pass opens the same reductions, and they have the same parts, so that a task of the
  // next iteration waits for what combines those of this one.
  void begin_pass() { recording_ = true, opened_ = 0; }
  void end_passes() { recording_ = false, recorded_.clear(); }

 private:
  struct Open {
    TaskAccess access;
    std::shared_ptr<ReductionParts> parts;
    std::vector<int> ranks;  // that run tasks of it, in order; of private memory: anywhere
  };

  template <typename Which>
  Status combine(const Which& which);
  Status create_combining(const Open& open);
  Status place(std::span<const TaskAccess> accesses, int& on) const;
  Status owner(const TaskAccess& access, int& rank) const;
  bool is_shared(const TaskAccess& access) const;
  Open& open(const TaskAccess& access);

  Sequence sequence_;
  std::vector<Open> open_;
  bool recording_ = false;
  size_t opened_ = 0;           // in this pass
  std::vector<Open> recorded_;  // in the first pass
};

}  // namespace hiroba
