// One sequence of tasks, created alike in all ranks: it determines the rank that runs a task, and the task's
// predecessors.
//
// Owner: Tasks. For the thread that creates the program's tasks.
#pragma once

#include <span>
#include <vector>

#include "task/flow/sharing.hpp"

namespace hiroba {

class Flow {
 public:
  void start(Memory& memory, Worker& worker, Events& events);
  // Creates the next task of the sequence, not yet submitted; `task` is null if another rank runs it. `on`: the rank
  // that runs it, or unsaid.
  Status create(std::span<const TaskAccess> accesses, int on, const TaskLabel* label, Task*& task);
  // Requires that all tasks of all ranks have ended.
  void clear();
  // From now on a rank may leave out tasks that use none of the shared data that it uses.
  void allow_parts(bool parts);
  Domain& domain() { return tasks_.domain(); }
  bool any() const { return used_; }  // true if there was a task since clear()
  // Each task since clear(), with its label and a hash of the sequence up to it.
  struct Made {
    const TaskLabel* label;
    uint64_t history;
  };
  const std::vector<Made>& made() const { return made_; }
  // Returns true if tasks so far use these bytes and are not known to have ended: then they must not be read, or
  // written.
  bool uses(const TaskSection& bytes, bool to_write) const;

 private:
  static constexpr int everywhere = -2, unsaid = -1;
  // A part of an access; an access without an entry is to private memory.
  struct AccessPart {
    Entry* entry;
    const TaskSection* section;
    const TaskAccess* access;
  };

  void begin();
  Status add_parts(const TaskAccess& access);
  Status add_shared(const TaskAccess& access, const TaskSection& key, const TaskSection& section);
  Status find_array(const TaskSection& section, Array*& array) const;
  void find_homes(Entry& entry, const Array& array, const TaskSection& section) const;
  int place_of_task(int on) const;
  void note(std::span<const TaskAccess> accesses, const TaskLabel* label);
  void use_shared(int rank, Wiring* wiring);

  const World* world_ = nullptr;
  Memory* memory_ = nullptr;
  int rank_ = 0;
  bool several_ = false, parts_ = false;
  Directory directory_;
  RuntimeTasks tasks_;
  Sharing sharing_;
  uint64_t count_ = 0;
  std::vector<Made> made_;
  bool used_ = false;
  uint64_t changes_ = 0;                  // number of changes of arrays when used_ became true
  std::vector<AccessPart> access_parts_;  // the parts of the task being created
};

}  // namespace hiroba
