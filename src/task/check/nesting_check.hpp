// Option check: children that use what tasks outside of their parent use, too, and their parent does not name. A child
// is ordered among the children of its parent only, so nothing orders it with other tasks but what its parent names.
//
// Owner: Tasks. For the one thread that runs tasks then.
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
  // The next task of that sequence; null if another rank runs it. A status if it is a child that uses more than it may,
  // or uses what such a child does.
  Status created(const Domain& domain, const Task* task, std::span<const TaskAccess> accesses, const TaskLabel* label);

 private:
  struct Use {
    TaskSection section;
    TaskAccess::Mode mode;
    const TaskLabel* label;
    TaskRef task;    // of this rank
    uint64_t order;  // of creation
  };
  // A child's use that its parent does not name.
  struct Stray {
    Use use;
    TaskRef parent;
  };
  struct Sequence {
    std::multimap<const char*, Use> uses;  // by their begin
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
