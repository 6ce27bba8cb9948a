// The name that the program gives a task, and the accesses that the task names: sections of memory, and what it does
// with them. Values.
#pragma once

#include <cstdint>

#include "collective/collective.hpp"
#include "section/section.hpp"

namespace hiroba {

// The program's name of a task, and the place of its creation: "update", "main.c:12". Lives as long as the program.
struct TaskLabel {
  const char* name;
  const char* place;
};

// As `hiroba_section` of task.h.
using TaskSection = SectionOf<3>;

struct TaskAccess {
  enum Mode : uint32_t {
    in = 1,
    out = 2,
    inout = 3,
    commutative = 7,  // inout, in any order with others of this mode, one at a time
    concurrent = 11,  // inout, at the same time as others of this mode: the tasks synchronize themselves
    reduction = 19    // at the same time as others of this mode, each in its own part (reductions.hpp)
  };
  Mode mode = in;
  // The tile that contains the section, where a program declares tiles: tasks that use the same tile then depend on
  // each other. Null: tasks whose sections share bytes do.
  const TaskSection* tile = nullptr;
  TaskSection section;
  // Set for a reduction, whose section is contiguous elements.
  uint8_t op = 0;  // a reduction_op
  Type type = Type::int8;

  // Returns the section by which tasks depend on each other.
  const TaskSection& key() const { return tile != nullptr ? *tile : section; }
};
constexpr bool reads(TaskAccess::Mode mode) { return (mode & TaskAccess::in) != 0; }
constexpr bool writes(TaskAccess::Mode mode) { return (mode & TaskAccess::out) != 0; }

}  // namespace hiroba
