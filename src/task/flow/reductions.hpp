// Reductions of tasks: a task that names a section as a reduction uses private parts of it that the threads of its rank
// have, which begin with the neutral value. Before a task that uses the section otherwise, or a wait, tasks are created
// that combine the parts into the section, one for each rank that has run some of them.
//
// Owner: of Reductions, Tasks for the program's sequence and for the tasks that a task creates; for the thread that
// creates these. The tasks that use parts own them, and so does the task that combines them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "task/task.hpp"

namespace hiroba {

// The private parts that the threads of this rank have of one section.
class ReductionParts {
 public:
  explicit ReductionParts(const TaskAccess& access) : target_(access) {}
  // Returns the access by which tasks that use the parts are ordered; those that add to them use concurrent.
  TaskAccess ordered(TaskAccess::Mode mode);
  void allocate(int threads);  // before the first task of this rank that uses them
  // Returns the address in the thread's part that corresponds to an address of the section.
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
  // The functions that create tasks of the sequence.
  struct Sequence {
    const Memory* memory;
    int threads, ranks;  // ranks: the tasks are divided among them; a task's children run on its rank
    std::function<Status(std::span<const TaskAccess>, const Tasks::Spec&, void*& argument)> create;
    std::function<void(void* argument, Tasks::Body)> submit;
  };
  explicit Reductions(Sequence sequence) : sequence_(std::move(sequence)) {}

  // Returns true if create() is to create a task with these.
  bool concern(std::span<const TaskAccess> accesses) const;
  Status create(std::span<const TaskAccess> accesses, const Tasks::Spec& spec, void*& argument);
  // Combines all open reductions.
  Status combine();
  // While a graph is recorded, each pass opens the same reductions with the same parts, so that a task of the next
  // iteration waits for the task that combines those of this one.
  void begin_pass() { recording_ = true, opened_ = 0; }
  void end_passes() { recording_ = false, recorded_.clear(); }

 private:
  struct Open {
    TaskAccess access;
    std::shared_ptr<ReductionParts> parts;
    std::vector<int> ranks;  // ranks that run tasks of it, in order; for private memory: any
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
  size_t opened_ = 0;           // number opened in this pass
  std::vector<Open> recorded_;  // opened in the first pass
};

}  // namespace hiroba
