// Option check: a task that writes shared memory that it does not name ends the job. Tasks of a rank then run one at a
// time, so every write while a body runs is that task's: by the thread that runs it, or by threads that it has started.
// README.md, "Writes that a task does not name", has the limits.
//
// Owner: Tasks. Functions are thread-safe where their comment says so; the others are for the one thread that runs
// tasks.
#pragma once

#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "memory/memory.hpp"
#include "task/access.hpp"
#include "task/crew/crew.hpp"

namespace hiroba {

class NameCheck final : public Observer {
 public:
  // Returns true if accesses are recorded and only threads of the program write the memory that the check sees.
  static bool possible(const Memory& memory);
  // Prints a line if the check is not possible here.
  void start(Memory& memory);

  void created(const Task& task, std::span<const TaskAccess> accesses);
  // Another thread may write what the task names until let_go(), which any thread may call.
  void hold(const Task& task);
  void let_go(const Task& task);

  void began(int worker, const Task& task) override;
  void ended(int worker, const Task& task) override;

 private:
  bool runs_program() const { return !running_.empty() && running_.back()->kind == Task::program; }
  void leave();
  void enter();
  void add(const Task& task, std::vector<NamedBytes::Run>& runs) const;
  static void refuse(const void* self, const UnnamedWrite& write);

  Memory* memory_ = nullptr;
  bool on_ = false;
  std::unordered_map<const Task*, std::vector<TaskAccess>> named_;  // of shared memory, by the last task of a node
  std::vector<const Task*> running_;                                // the innermost last: a task that waits runs others
  std::mutex lock_;                                                 // guards held_
  std::vector<const Task*> held_;
};

}  // namespace hiroba
