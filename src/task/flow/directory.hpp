// Records for each piece of data that a sequence of tasks names: the last task that has written it, and those that have
// used it since. They give the edges of the next task.
//
// Owner: the thread that creates these tasks; nothing here is thread-safe. An Entry does not move until no task under
// way has used it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "task/access.hpp"
#include "task/crew/exclusion.hpp"
#include "task/flow/section_index.hpp"
#include "task/flow/wiring.hpp"

namespace hiroba {

// Stores a few tasks in place, more of them elsewhere; it removes those that have ended as it grows.
class TaskList {
 public:
  // Option task-graph: with `all` it also adds tasks that have ended.
  void add(const TaskRef& task, bool all = false) {
    if (count_ < in_place) tasks_[count_++] = task;
    else if (all) more_.push_back(task);
    else add_more(task);
  }
  void clear() {
    count_ = 0;
    if (!more_.empty()) more_.clear();
  }
  bool empty() const { return count_ == 0; }
  size_t size() const { return count_ + more_.size(); }
  void before(Wiring& wiring) const {
    for (size_t i = 0; i < count_; ++i) wiring.after(tasks_[i]);
    for (const TaskRef& task : more_) wiring.after(task);
  }
  TaskRef first() const { return tasks_[0]; }
  bool any_pending() const;

 private:
  static constexpr size_t in_place = 4;
  void add_more(const TaskRef& task);

  size_t count_ = 0;
  TaskRef tasks_[in_place];
  std::vector<TaskRef> more_;
};

struct Shares;

// The members that each task needs are in few cache lines.
struct alignas(64) Entry {
  explicit Entry(const TaskSection& of) : section(of) {}

  TaskSection section;
  Entry* chain = nullptr;      // entries that begin at the same address
  std::vector<Entry*> others;  // those with which it shares bytes, in the same order in all ranks
  TaskRef writer;  // the task that wrote it last; or a task of the runtime that represents all earlier tasks
  TaskAccess::Mode mode = TaskAccess::in;
  bool over = false;               // it is removed now (Directory::sweep)
  TaskList users;                  // tasks since then, all with this mode; not those of `out` and `inout`
  std::vector<TaskSection> parts;  // of a section that is on several nodes: entries of their own
  std::unique_ptr<Exclusion> exclusion;
  std::shared_ptr<Shares> shares;  // for shared memory, if there are several ranks
  size_t epoch = 0;                // the epoch of `shares`
  size_t seen = 0;                 // the number of the entry that has last compared its section with this one

  // Returns true if it equals a new entry: no task that has used it is under way, and other ranks do not know it.
  bool is_over() const { return shares == nullptr && parts.empty() && !writer.pending() && !users.any_pending(); }
  void forget_tasks() { writer = TaskRef(), users.clear(); }
  // Makes a task with commutative access run alone among them.
  void exclude(TaskAccess::Mode access, Task& task);
};

class Directory {
 public:
  Directory();
  // Returns the section's entry.
  Entry& find(const TaskSection& section) {
    for (size_t i = hash(section.address);; ++i) {
      const Slot& slot = slots_[i & mask_];
      if (slot.address == section.address)
        for (Entry* e = slot.first; e != nullptr; e = e->chain)
          if (e->section == section) return *e;
      if (slot.address == section.address || slot.address == nullptr) return add(section);
    }
  }
  // Adds the edges of one more task, and updates the entry.
  void use(Entry& entry, TaskAccess::Mode mode, Wiring& wiring);
  // Visits entries that may share bytes with the section, some more than once.
  template <typename Visit>
  void for_each_near(const TaskSection& section, const Visit& visit) const {
    index_.for_each_near(section, visit);
  }
  // Adds edges only.
  static void after_writers(const Entry& entry, Wiring& wiring);
  static void after_all(const Entry& entry, Wiring& wiring);
  // Requires that all tasks have ended. Entries stay for the next ones, unless there are too many.
  void clear();
  void drop();  // removes all entries
  size_t size() const { return entries_.size(); }
  size_t added() const { return added_; }  // the number of entries added so far

 private:
  struct Slot {
    const void* address = nullptr;
    Entry* first = nullptr;
  };
  size_t hash(const void* address) const {
    return (reinterpret_cast<uintptr_t>(address) * 0x9e3779b97f4a7c15) >> shift_;
  }
  Entry& add(const TaskSection& section);
  void insert(Entry& entry);
  void rebuild(size_t slots);
  void sweep();
  void find_others(Entry& entry);
  void close_group(Entry& entry, Wiring& wiring);

  static constexpr size_t most_kept = size_t{1} << 20;
  // The number of entries at which removal begins; more than option task-graph records.
  static constexpr size_t least_swept = size_t{1} << 15;
  size_t sweep_at_ = least_swept, added_ = 0;
  std::vector<Slot> slots_;
  size_t mask_, addresses_ = 0;
  int shift_;
  std::vector<std::unique_ptr<Entry>> entries_;
  SectionIndex index_;
};

// Creates a task of this rank only, in the order of the directory; it is not yet submitted.
Task& create_local(Worker& worker, Domain& domain, Directory& directory, std::span<const TaskAccess> accesses);

}  // namespace hiroba
