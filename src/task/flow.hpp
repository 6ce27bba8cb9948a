// One sequence of tasks, created alike in all ranks: which rank runs a task, and which events and copies between ranks
// its accesses need. Every rank derives the same from the same sequence; a rank does its own part of it. README.md,
// "The flow", has the rules and why nothing can wait in a cycle.
//
// Owner: Tasks. For the thread that creates the program's tasks.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "memory/memory.hpp"
#include "task/directory.hpp"
#include "task/events.hpp"

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

// What ranks know of data in shared memory whose home is one node.
struct Shares {
  // A section of it in the memory of a rank of another node. Of those of other ranks only whether they are valid.
  struct Copy {
    int rank;
    TaskSection section;
    bool valid = false;
    TaskRef mover = {};  // after which it is valid
    TaskList readers = {};
  };

  Shares(int home_, int owner_, int nranks) : home(home_), owner(owner_), signalled(nranks), readers(nranks) {}

  int home;           // a rank of the node whose memory it is
  int owner;          // of its first element: this rank runs tasks that write it
  int writer = -1;    // the rank that has written it last
  RankSet signalled;  // know of that
  RankSet readers;    // have used it since
  std::vector<Copy> copies;
};

class Flow {
 public:
  static constexpr int everywhere = -2, unsaid = -1;

  void start(Memory& memory, Crew& crew, Events& events);
  // Derives what the task, the next of the sequence, needs. Null if it runs on another rank; else the task, not yet
  // submitted. `on`: the rank that runs it.
  Status create(std::span<const TaskAccess> accesses, int on, const TaskLabel* label, Task*& task);
  // All tasks of all ranks have ended.
  void clear();
  Domain& domain() { return domain_; }
  bool any() const { return used_; }  // task since clear()
  // Of the sequence since clear(), each task with its label, and what differs between sequences that differ up to it.
  struct Made {
    const TaskLabel* label;
    uint64_t history;
  };
  const std::vector<Made>& made() const { return made_; }

 private:
  enum class Reach { same, pull, push };  // of memory: same node; the reader copies it; its home sends it
  struct Piece {
    Entry* entry;
    TaskAccess access;
  };

  Status add_pieces(const TaskAccess& access);
  void find_homes(Entry& entry, const Array& array, const TaskSection& section) const;
  int place_of_task(int on) const;
  void note(std::span<const TaskAccess> accesses, const TaskLabel* label);
  Reach reach(int rank, int home) const;
  bool is_near(int home) const { return reach(rank_, home) != Reach::push; }
  void renew(Entry& entry) const;

  void use_shared(int rank, Wiring* wiring);
  void use(const Piece& piece, int rank, Wiring* wiring, bool writes);
  void use_near(Entry& entry, TaskAccess::Mode mode, int rank, Wiring* wiring);
  void join_arrivals(Entry& entry, Wiring& wiring);
  void read_near(Entry& entry, int rank);
  void write_near(Entry& entry, int rank);

  static void invalidate(Entry& entry);
  Shares::Copy& copy_of(Entry& entry, int rank, const TaskSection& section) const;
  void after_copies(const Entry& entry, const TaskSection& section, Wiring& wiring) const;
  void read_far(const Piece& piece, int rank, Wiring* wiring);
  void write_far(const Piece& piece, int rank, Wiring* wiring);

  Task& make(Task::Kind kind, Task::Body body);
  uint32_t what(const TaskSection& section) const;
  TaskRef expect(int rank, const TaskSection& section);
  void signal(int rank, const Entry& entry, bool all_users);
  char* at_home(const Entry& entry, const TaskSection& section) const;
  void moved_by(Entry& entry, const TaskSection& section, Task& task) const;
  void pull(const Piece& piece);
  void push(const Piece& piece, int rank);
  void receive(const Piece& piece);
  TaskRef put_back(const Piece& piece, const TaskRef& writer);
  TaskRef send_back(const Piece& piece, const TaskRef& writer);
  void receive_back(const Piece& piece, int rank);
  Task& make_receiving(int rank, const TaskSection& section);
  Task& make_signal(int rank, const TaskSection& section);

  const World* world_ = nullptr;
  Memory* memory_ = nullptr;
  Crew* crew_ = nullptr;
  Events* events_ = nullptr;
  int rank_ = 0;
  bool several_ = false, all_reach_ = true;
  Domain domain_;
  Directory directory_;
  size_t epoch_ = 0;
  uint64_t tasks_ = 0;
  std::vector<Made> made_;
  bool used_ = false;
  const Task* creating_ = nullptr;  // if it runs here
  std::vector<Piece> pieces_;       // of the task being created
  std::vector<TaskRef> arrivals_;   // of events for which it has to wait
};

template <typename Visit>
void RankSet::for_each(const Visit& visit) const {
  for (size_t i = 0; i < words_.size(); ++i)
    for (uint64_t w = words_[i]; w != 0; w &= w - 1) visit(static_cast<int>(i) * 64 + __builtin_ctzll(w));
}

}  // namespace hiroba
