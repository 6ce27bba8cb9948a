// What a task says about the data it uses: sections of memory, and what it does with them. Values.
#pragma once

#include <cstdint>

#include "collective/collective.hpp"
#include "section/section.hpp"

namespace hiroba {

// As `hiroba_section` of task.h.
using TaskSection = SectionOf<3>;

struct TaskAccess {
  enum Mode : uint32_t {
    in = 1,
    out = 2,
    inout = 3,
    commutative = 7,  // inout, in any order with the same, one at a time
    concurrent = 11,  // inout, with the same at once: the tasks see to it themselves
    reduction = 19    // with the same at once, each in a part of its own (reductions.hpp)
  };
  Mode mode = in;
  // The tile that the section is part of, where a program declares tiles: tasks then depend on each other where they
  // use the same tile. Null: where sections share bytes.
  const TaskSection* tile = nullptr;
  TaskSection section;
  // Of a reduction, whose section is contiguous elements.
  uint8_t op = 0;  // of reduction_op
  Type type = Type::int8;

  // By which tasks depend on each other.
  const TaskSection& key() const { return tile != nullptr ? *tile : section; }
};
constexpr bool reads(TaskAccess::Mode mode) { return (mode & TaskAccess::in) != 0; }
constexpr bool writes(TaskAccess::Mode mode) { return (mode & TaskAccess::out) != 0; }

}  // namespace hiroba
