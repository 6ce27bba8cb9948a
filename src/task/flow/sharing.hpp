// Determines the events and copies between ranks that an access to shared memory needs. Every rank derives the same
// from the same sequence of tasks, and does its own part of it. README.md, "Sharing", has the rules and the reason why
// there is no deadlock.
//
// Owner: Flow. For the thread that creates the program's tasks.
#pragma once

#include <vector>

#include "memory/memory.hpp"
#include "task/flow/directory.hpp"
#include "task/flow/runtime_tasks.hpp"

namespace hiroba {

class RankSet {
 public:
  explicit RankSet(int nranks) : words_((static_cast<size_t>(nranks) + 63) / 64) {}
  void add(int rank) { word(rank) |= bit(rank), any_ = true; }
  bool has(int rank) const { return (words_[static_cast<size_t>(rank) / 64] & bit(rank)) != 0; }
  bool any_but(int rank) const;
  void clear() {
    if (any_) words_.assign(words_.size(), 0);
    any_ = false;
  }
  template <typename Visit>
  void for_each(const Visit& visit) const;

 private:
  static uint64_t bit(int rank) { return uint64_t{1} << (rank % 64); }
  uint64_t& word(int rank) { return words_[static_cast<size_t>(rank) / 64]; }
  std::vector<uint64_t> words_;
  bool any_ = false;
};

// State that all ranks keep of data in shared memory whose home is one node.
struct Shares {
  // A section of it in the memory of a rank of another node. For other ranks only its validity is known.
  struct Copy {
    int rank;
    TaskSection section;
    bool valid = false;
    TaskRef mover = {};  // the task after which it is valid
    TaskList readers = {};
  };

  static constexpr int nobody = -1;

  Shares(int home_rank, int owner_rank, int nranks)
      : home(home_rank), owner(owner_rank), signalled(nranks), readers(nranks) {}

  int home;             // a rank of the node that has the memory
  int owner;            // owner of its first element: this rank runs tasks that write it
  int writer = nobody;  // the rank that has written it last
  RankSet signalled;    // ranks that know of that write
  RankSet readers;      // ranks that have used it since
  std::vector<Copy> copies;

  void written_by(int rank) {
    writer = rank;
    signalled.clear(), readers.clear();
  }
};

class Sharing {
 public:
  void start(Memory& memory, Directory& directory, RuntimeTasks& tasks);
  // `rank` runs the task; `wiring` is the task's, if that is this rank. Called twice for each access of a task: first
  // for the task's predecessors over all accesses, then for its successors (`after`).
  void use(Entry& entry, TaskAccess::Mode mode, const TaskSection& section, int rank, Wiring* wiring, bool after);
  // Returns true if this rank has a valid copy of these bytes of other memory.
  bool has_copy(const Entry& entry, const TaskSection& bytes) const;
  // Returns true if tasks of other ranks have written the entry, or used it, and this rank does not know that they have
  // ended; for other memory only if it has a copy.
  bool uses(const Entry& entry, bool to_write, bool copied) const;
  // All tasks of all ranks have ended, so the states of entries are void.
  void clear() { ++epoch_; }

 private:
  enum class Route { same, pull, push };  // same node; the reader copies; the home sends
  Route route(int rank, int home) const;
  bool is_near(int home) const { return route(rank_, home) != Route::push; }
  void refresh(Entry& entry) const;

  void use_near(Entry& entry, TaskAccess::Mode mode, int rank, Wiring* wiring);
  void join_arrivals(Entry& entry, Wiring& wiring);
  void read_near(Entry& entry, int rank);
  void write_near(Entry& entry, int rank);
  void signal(int rank, const Entry& entry, bool all_users);

  static void invalidate(Entry& entry);
  Shares::Copy& copy_of(Entry& entry, int rank, const TaskSection& section) const;
  void after_copies(const Entry& entry, const TaskSection& section, Wiring& wiring, bool users) const;
  void moved_by(Entry& entry, const TaskSection& section, Task& task) const;
  void read_far(Entry& entry, const TaskSection& section, int rank, Wiring* wiring);
  void write_far(Entry& entry, const TaskSection& section, int rank, Wiring* wiring);
  void pull(Entry& entry, const TaskSection& section, const Task* reader);
  TaskRef put_back(Entry& entry, const TaskSection& section, const TaskRef& writer);
  TaskRef send(Entry& entry, const TaskSection& section, int rank, const TaskRef& writer);
  void receive(Entry& entry, const TaskSection& section, int rank, const Task* reader);

  const World* world_ = nullptr;
  Memory* memory_ = nullptr;
  Directory* directory_ = nullptr;
  RuntimeTasks* tasks_ = nullptr;
  int rank_ = 0;
  bool all_reach_ = true;
  size_t epoch_ = 0;
  std::vector<TaskRef> arrivals_;  // events for which the next write has to wait
};

template <typename Visit>
void RankSet::for_each(const Visit& visit) const {
  for (size_t i = 0; i < words_.size(); ++i)
    for (uint64_t w = words_[i]; w != 0; w &= w - 1) visit(static_cast<int>(i) * 64 + __builtin_ctzll(w));
}

}  // namespace hiroba
