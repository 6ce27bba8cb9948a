// Finds sections that may share bytes with another one, in time that grows with the logarithm of their number and with
// the number that is found.
//
// A contiguous section is an interval of addresses. The rows of a section of a matrix interleave with those of its
// neighbours, so intervals would find all tiles beside it: it is a box of rows and columns, where the stride is the
// length of a row. Boxes of like size share a level, an ordered list by column and row. Not thread-safe.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "section/walk.hpp"
#include "task/access.hpp"

namespace hiroba {

struct Entry;

class SectionIndex {
 public:
  // Adds the entry's section.
  void add(Entry& entry);
  // Visits entries that may share bytes with the section, some more than once, in no order.
  template <typename Visit>
  void for_each_near(const TaskSection& section, const Visit& visit) const {
    const TaskSection s = simplified(section);
    loose_.for_each_near(s, visit);
    const Pair* own = nullptr;
    for (const Pair& pair : by_stride_) {
      pair.strided.for_each_near(s, visit);
      if (s.dims > 0 && pair.strided.stride == inner_stride(s)) own = &pair;
    }
    (own != nullptr ? own->flat : contiguous_).for_each_near(s, visit);
  }

 private:
  // Rows [row, row + rows), columns [column, column + width); of intervals, the rows are addresses.
  struct Box {
    int64_t row, rows, column, width;
  };
  struct Boxes {
    int count = 0;
    Box box[2];
  };
  struct Place {
    int64_t cell, row;  // of 2^width_class columns
    bool operator<(const Place& other) const { return cell != other.cell ? cell < other.cell : row < other.row; }
  };
  struct Level {
    int rows_class, width_class;
    int64_t most_rows = 0;
    std::multimap<Place, Entry*> entries;

    template <typename Visit>
    void for_each_near(const Box& box, const Visit& visit) const {
      const int64_t first = box.column >> width_class, last = (box.column + box.width - 1) >> width_class;
      if (last - first >= std::ssize(entries)) {
        for (const auto& [place, entry] : entries) visit(*entry);
        return;
      }
      for (int64_t cell = first; cell <= last; ++cell)
        for (auto i = entries.lower_bound({cell, box.row - most_rows + 1});
             i != entries.end() && i->first < Place{cell, box.row + box.rows}; ++i)
          visit(*i->second);
    }
  };
  // Sections as boxes of rows of `stride` bytes; 0: as intervals.
  struct Plane {
    int64_t stride = 0;
    const char *low = nullptr, *high = nullptr;  // all sections are in [low, high)
    std::vector<Level> levels;

    void add(const TaskSection& section, Entry& entry);
    template <typename Visit>
    void for_each_near(const TaskSection& section, const Visit& visit) const {
      if (section.end() <= low || section.address >= high) return;
      const Boxes boxes = boxes_of(section);
      for (const Level& level : levels)
        for (int b = 0; b < boxes.count; ++b) level.for_each_near(boxes.box[b], visit);
    }
    Boxes boxes_of(const TaskSection& section) const;
  };
  // Sections with that stride, and contiguous sections as boxes with it.
  struct Pair {
    Plane strided, flat;
  };
  static constexpr size_t most_strides = 8;

  static int64_t inner_stride(const TaskSection& s) { return s.stride[static_cast<size_t>(s.dims) - 1]; }
  Pair* pair_of(int64_t stride);

  Plane contiguous_;
  Plane loose_;  // sections with still other strides, as intervals
  std::vector<Pair> by_stride_;
};

}  // namespace hiroba
