#include "task/flow/section_index.hpp"

#include "task/flow/directory.hpp"

namespace hiroba {

namespace {

// True if the section's rows lie in columns of a matrix with rows of `stride` bytes.
bool has_rows_of(const TaskSection& s, int64_t stride) {
  if (s.dims == 0 || s.stride[static_cast<size_t>(s.dims) - 1] != stride || static_cast<int64_t>(s.bytes) > stride)
    return false;
  return std::all_of(s.stride.begin(), s.stride.begin() + s.dims, [&](int64_t each) { return each % stride == 0; });
}

int class_of(int64_t n) { return std::bit_width(static_cast<uint64_t>(n - 1)); }

}  // namespace

SectionIndex::Boxes SectionIndex::Plane::boxes_of(const TaskSection& s) const {
  const auto at = static_cast<int64_t>(reinterpret_cast<uintptr_t>(s.address)), length = s.end() - s.address;
  if (stride == 0) return {1, {{at, length, 0, 1}}};
  const auto width = static_cast<int64_t>(s.bytes), row = at / stride, column = at % stride;
  const bool fits = s.dims == 0 ? width <= stride : has_rows_of(s, stride);
  if (!fits) return {1, {{row, (at + length - 1) / stride - row + 1, 0, stride}}};
  const int64_t rows = (length - width) / stride + 1, in_row = std::min(width, stride - column);
  if (in_row == width) return {1, {{row, rows, column, width}}};
  return {2, {{row, rows, column, in_row}, {row + 1, rows, 0, width - in_row}}};
}

void SectionIndex::Plane::add(const TaskSection& section, Entry& entry) {
  const char* const begin = section.address;
  const char* const end = section.end();
  low = levels.empty() ? begin : std::min(low, begin), high = std::max(high, end);
  const Boxes boxes = boxes_of(section);
  for (int b = 0; b < boxes.count; ++b) {
    const Box& box = boxes.box[b];
    const int rows_class = class_of(box.rows), width_class = class_of(box.width);
    auto level = std::find_if(levels.begin(), levels.end(), [&](const Level& l) {
      return l.rows_class == rows_class && l.width_class == width_class;
    });
    if (level == levels.end()) level = levels.insert(level, {rows_class, width_class, 0, {}});
    level->most_rows = std::max(level->most_rows, box.rows);
    const int64_t first = box.column >> width_class, last = (box.column + box.width - 1) >> width_class;
    for (int64_t cell = first; cell <= last; ++cell) level->entries.emplace(Place{cell, box.row}, &entry);
  }
}

SectionIndex::Pair* SectionIndex::pair_of(int64_t stride) {
  for (Pair& pair : by_stride_)
    if (pair.strided.stride == stride) return &pair;
  if (by_stride_.size() == most_strides) return nullptr;
  Pair& pair = by_stride_.emplace_back();
  pair.strided.stride = pair.flat.stride = stride;
  for (const Level& level : contiguous_.levels)
    for (const auto& [place, entry] : level.entries) pair.flat.add(simplified(entry->section), *entry);
  return &pair;
}

void SectionIndex::add(Entry& entry) {
  const TaskSection s = simplified(entry.section);
  if (s.dims == 0) {
    contiguous_.add(s, entry);
    for (Pair& pair : by_stride_) pair.flat.add(s, entry);
  } else if (Pair* const pair = pair_of(inner_stride(s))) {
    pair->strided.add(s, entry);
  } else {
    loose_.add(s, entry);
  }
}

}  // namespace hiroba
