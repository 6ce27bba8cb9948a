// An index of sections finds all that share a byte, and few others however many there are.
#include "task/flow/section_index.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <set>

#include "task/flow/directory.hpp"

namespace hiroba {
namespace {

constexpr size_t room = size_t{1} << 22;
char memory[room];

struct Index {
  std::deque<Entry> entries;
  SectionIndex index;

  void add(const TaskSection& section) { index.add(entries.emplace_back(section)); }
  std::set<const Entry*> near(const TaskSection& section) const {
    std::set<const Entry*> out;
    index.for_each_near(section, [&](const Entry& entry) { out.insert(&entry); });
    return out;
  }
};

// Rows of a matrix with `columns` bytes a row.
TaskSection tile(size_t columns, size_t row, size_t column, size_t rows, size_t width) {
  TaskSection out(memory + row * columns + column, width);
  out.add(static_cast<int64_t>(rows), static_cast<int64_t>(columns));
  return out;
}

TEST(SectionIndex, NothingThatSharesAByteIsMissed) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](size_t n) { return random() % n; };
    const size_t columns[] = {64 + below(100), 200, 333, 40 + below(3), 41, 42, 43, 44, 45, 46, 47};
    Index index;
    const auto any = [&] {
      const size_t stride = columns[below(std::size(columns))], kind = below(4);
      if (kind == 0) return TaskSection(memory + below(20000), 1 + below(below(5) == 0 ? 3000 : 60));
      TaskSection out = tile(stride, below(60), below(stride), 1 + below(20), 1 + below(kind == 1 ? stride : 8));
      if (kind == 3) {  // of three dimensions
        out.dims = 0;
        out.add(static_cast<int64_t>(1 + below(3)), static_cast<int64_t>(stride * (5 + below(9))));
        out.add(static_cast<int64_t>(1 + below(5)), static_cast<int64_t>(stride));
      }
      return out;
    };
    for (int i = 0; i < 60; ++i) index.add(any());
    for (int i = 0; i < 20; ++i) {
      const TaskSection section = any();
      const std::set<const Entry*> near = index.near(section);
      for (const Entry& entry : index.entries)
        ASSERT_TRUE(!overlap(section, entry.section) || near.contains(&entry) ||
                    common_byte(section, entry.section) == nullptr)
            << "seed " << seed;
    }
  }
}

// Tiles of a matrix, and the row above and the column beside each, as a wavefront uses them.
TEST(SectionIndex, VisitsDoNotGrowWithTheNumberOfTiles) {
  for (const size_t tiles : {size_t{4}, size_t{16}, size_t{40}}) {
    constexpr size_t side = 32;
    const size_t columns = tiles * side + 7;
    Index index;
    size_t most = 0;
    for (size_t y = 0; y < tiles; ++y)
      for (size_t x = 0; x < tiles; ++x) {
        const TaskSection parts[] = {TaskSection(memory + y * side * columns + x * side, side + 1),
                                     tile(columns, y * side + 1, x * side, side, 1),
                                     tile(columns, y * side + 1, x * side + 1, side, side)};
        for (const TaskSection& part : parts) {
          most = std::max(most, index.near(part).size());
          index.add(part);
        }
      }
    EXPECT_LE(most, 40u) << tiles << " tiles a side";
  }
}

}  // namespace
}  // namespace hiroba
