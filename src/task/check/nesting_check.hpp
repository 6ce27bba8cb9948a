// Option check: finds children that use data that tasks outside of their parent also use and their parent does not
// name. A child is ordered among the children of its parent only, so only the parent's accesses order it with other
// tasks.
//
// Owner: Tasks. Requires that one thread runs tasks.
#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "memory/memory.hpp"
#include "task/access.hpp"
#include "task/crew/node.hpp"

namespace hiroba {

class NestingCheck {
 public:
  void start(const Memory& memory) { memory_ = &memory; }
  bool on() const { return memory_ != nullptr; }
  // All tasks of the sequence have ended, or there are none yet.
  void begin(const Domain& domain);
  // Adds the next task of that sequence; null if another rank runs it. Returns an error if it is a child that uses more
  // than its parent names, or uses data that such a child uses.
  Status created(const Domain& domain, const Task* task, std::span<const TaskAccess> accesses, const TaskLabel* label);

 private:
  struct Use {
    TaskSection section;
    TaskAccess::Mode mode;
    const TaskLabel* label;
    TaskRef task;    // on this rank
    uint64_t order;  // of creation
  };
  // A child's use that its parent does not name.
  struct Stray {
    Use use;
    TaskRef parent;
  };
  struct Sequence {
    std::multimap<const char*, Use> uses;  // by their first byte
    size_t longest = 0;
    std::vector<Stray> strays;
    void add(const Use& use);
    bool is_over(const Use& before, const Use& use, uint64_t order) const;
  };
  struct Named {
    std::vector<TaskAccess> accesses;  // by their keys
    const TaskLabel* label;
    const Domain* domain;
    uint64_t order;
  };

  Status check_child(const Use& use, const Task& parent);
  Status check_sequence(Sequence& sequence, const Use& use, const Task& parent);
  Status check_strays(Sequence& sequence, const Use& use) const;
  Status refuse(const Use& child, const Task& parent, const std::string& why) const;
  std::string text_of(const TaskSection& section) const;

  const Memory* memory_ = nullptr;
  uint64_t order_ = 0;
  std::unordered_map<const Task*, Named> named_;  // by the last task of a node
  std::unordered_map<const Domain*, Sequence> sequences_;
};

}  // namespace hiroba
