// Random nests of loops, whose bounds follow the variables around them, cut into tiles: each iteration is in one tile,
// and what a tile touches, by running it, is in its boxes; boxes that are exact hold nothing else.
#include "loops/tiles.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>
#include <vector>

#include "loops/share.hpp"
#include "smint.h"

namespace hiroba {
namespace {

using Values = std::array<int64_t, View::most_loops>;
using Bytes = std::set<const char*>;

std::mt19937 random_numbers(5);
int64_t between(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random_numbers() % static_cast<uint64_t>(high - low + 1));
}

int64_t value(const Affine& form, const Values& v, size_t loops) {
  int64_t out = form.value;
  for (size_t k = 0; k < loops; ++k) out += form.factor[k] * v[k];
  return out;
}

// As the program runs loop k: body for each of its values.
void run(const std::vector<Span>& loops, size_t k, Values& v, const std::function<void()>& body) {
  const int64_t first = value(loops[k].first, v, k), step = loops[k].step;
  int64_t end = value(loops[k].end, v, k);
  if (step > 0) end = std::min(end, value(loops[k].limit, v, k));
  for (v[k] = first; step > 0 ? v[k] < end : v[k] > end; v[k] += step) body();
}

// As the function of a task runs it.
void run_tile(const std::vector<Span>& loops, const std::vector<Interval>& within, size_t k, Values& v,
              const std::function<void()>& body) {
  if (k >= within.size()) return run(loops, k, v, body);
  const int64_t first = value(loops[k].first, v, k), step = loops[k].step, end = value(loops[k].end, v, k);
  if (step < 0) {
    const int64_t stop = smint_until_down(end, within[k].begin);
    for (v[k] = smint_from_down(first, within[k].end, step); v[k] > stop; v[k] += step) body();
    return;
  }
  const int64_t stop = smint_until(std::min(end, value(loops[k].limit, v, k)), within[k].end);
  for (v[k] = smint_from(first, within[k].begin, step); v[k] < stop; v[k] += step) body();
}

std::vector<Span> some_loops() {
  std::vector<Span> out;
  for (size_t k = 0, depth = static_cast<size_t>(between(1, 3)); k < depth; ++k) {
    static const int64_t steps[] = {1, 1, 2, 3, -1, -1, -2};
    Span loop = {{between(-3, 5), {}}, {between(-4, 14), {}}, {far, {}}, steps[between(0, 6)]};
    if (k > 0 && between(0, 4) == 0) loop.end.value = loop.first.value;  // empty, if both follow the same variables
    if (loop.step < 0) std::swap(loop.first, loop.end);
    if (k > 0 && between(0, 2) == 0) loop.first.factor[k - 1] = between(-1, 1);
    if (k > 0 && between(0, 1) == 0) loop.end.factor[0] = between(-1, 1);
    if (between(0, 3) == 0) loop.limit.value = between(0, 12);
    out.push_back(loop);
  }
  return out;
}

// A subscript that is read from a table: add_made() appends spans of such subscripts to the loops that they follow.
int64_t table_of(const void* table, int64_t v) { return static_cast<const int64_t*>(table)[(v % 8 + 8) % 8]; }

void add_made(std::vector<Span>& loops) {
  static const int64_t tables[2][8] = {{3, 0, -2, 5, 1, 4, 2, -1}, {1, 1, 1, 1, 4, 4, 4, 4}};
  for (int64_t left = between(0, 2), depth = static_cast<int64_t>(loops.size()); left > 0; --left)
    loops.push_back({{}, {}, {}, 1, table_of, tables[left - 1], static_cast<int>(between(0, depth - 1))});
}

std::vector<TileAccess> some_accesses(char* first, char* second, size_t loops) {
  std::vector<TileAccess> out;
  for (int64_t left = between(1, 6); left > 0; --left) {
    const int flags = between(0, 1) == 0 ? Access::reads : Access::writes;
    TileAccess access = {
        flags, flags == Access::reads ? first : second, 8 * between(-1, 1) + 800 * between(-1, 1), 8, {}};
    for (size_t k = 0; k < loops; ++k) {
      static const int64_t moves[] = {0, 8, 16, -8, 800, 1600};
      access.move[k] = left % 2 == 0 && k < 2 ? (k == 0 ? 800 : 8) : moves[between(0, 5)];
    }
    out.push_back(access);
  }
  return out;
}

// What one tile touches: an access stands in the innermost loop of which it uses the variable, or a number made of it.
Bytes touched(const std::vector<Span>& loops, const std::vector<Interval>& within, const TileAccess& access) {
  Bytes out;
  const auto loop_of = [&](size_t k) { return loops[k].value != nullptr ? static_cast<size_t>(loops[k].of) : k; };
  size_t depth = within.size();  // the loops that are tiled have nothing but the next one in them
  for (size_t k = 0; k < loops.size(); ++k)
    if (access.move[k] != 0) depth = std::max(depth, loop_of(k) + 1);
  Values v{};
  const std::function<void(size_t)> enter = [&](size_t k) {
    if (k < depth) return run_tile(loops, within, k, v, [&] { enter(k + 1); });
    const char* at = access.base + access.offset;
    for (size_t j = 0; j < loops.size(); ++j) {
      const int64_t loop = loop_of(j) < depth ? v[loop_of(j)] : 0;
      at += access.move[j] * (loops[j].value != nullptr ? loops[j].value(loops[j].data, loop) : loop);
    }
    for (int64_t b = 0; b < access.block; ++b) out.insert(at + b);
  };
  enter(0);
  return out;
}

Bytes bytes_of(const TileBox& box) {
  Bytes out;
  const std::function<void(int, const char*)> add = [&](int d, const char* at) {
    if (d == box.dims)
      for (size_t b = 0; b < box.bytes; ++b) out.insert(at + b);
    else
      for (int64_t i = 0; i < box.count[static_cast<size_t>(d)]; ++i)
        add(d + 1, at + i * box.stride[static_cast<size_t>(d)]);
  };
  add(0, box.address);
  return out;
}

bool has_all(const Bytes& all, const Bytes& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

// Calls tile() for each tile of the first `size.size()` loops.
void cut(const std::vector<int64_t>& size, std::vector<Interval>& within,
         const std::function<void(const std::vector<Interval>&)>& tile) {
  const size_t k = within.size();
  if (k == size.size()) return tile(within);
  for (int64_t begin = floor_div(-40, size[k]) * size[k]; begin < 40; begin += size[k]) {
    within.push_back({begin, begin + size[k]});
    cut(size, within, tile);
    within.pop_back();
  }
}

std::vector<int64_t> some_sizes(size_t loops) {
  std::vector<int64_t> out;
  for (int64_t k = between(1, std::min<int64_t>(2, static_cast<int64_t>(loops))); k > 0; --k)
    out.push_back(between(3, 9));
  return out;
}

TEST(Tiles, EachIterationIsInOneTile) {
  random_numbers.seed(7);
  int64_t iterations = 0;
  for (int round = 0; round < 300; ++round) {
    const std::vector<Span> loops = some_loops();
    std::multiset<Values> all, found;
    Values v{};
    const std::function<void(size_t)> enter = [&](size_t k) {
      if (k < loops.size()) run(loops, k, v, [&] { enter(k + 1); });
      else all.insert(v);
    };
    enter(0);
    std::vector<Interval> within;
    cut(some_sizes(loops.size()), within, [&](const std::vector<Interval>& tile) {
      TileRanges ranges;
      const bool any = ranges_of(loops, tile, ranges);
      const std::function<void(size_t)> enter_tile = [&](size_t k) {
        if (k < loops.size()) return run_tile(loops, tile, k, v, [&] { enter_tile(k + 1); });
        EXPECT_TRUE(any);
        for (size_t j = 0; j < loops.size(); ++j) {
          EXPECT_TRUE(ranges[j].low <= v[j] && v[j] <= ranges[j].last);
          EXPECT_EQ((v[j] - ranges[j].low) % ranges[j].step, 0);
        }
        found.insert(v);
      };
      enter_tile(0);
    });
    EXPECT_EQ(all, found);
    iterations += static_cast<int64_t>(all.size());
  }
  EXPECT_GT(iterations, 5000);
}

TEST(Tiles, WhatATileTouchesIsInItsBoxes) {
  random_numbers.seed(11);
  std::vector<char> memory(1 << 20);
  int exact = 0, empty_inside = 0;
  for (int round = 0; round < 800; ++round) {
    std::vector<Span> loops = some_loops();
    const std::vector<int64_t> sizes = some_sizes(loops.size());
    add_made(loops);
    const auto accesses = some_accesses(memory.data() + (1 << 18), memory.data() + (3 << 18), loops.size());
    std::vector<Interval> within;
    cut(sizes, within, [&](const std::vector<Interval>& tile) {
      Bytes read, written, may_read, may_write;
      for (const TileAccess& access : accesses)
        (access.flags == Access::reads ? read : written).merge(touched(loops, tile, access));
      TileRanges ranges;
      const bool any = ranges_of(loops, tile, ranges);
      if (!any) {
        EXPECT_TRUE(read.empty() && written.empty());
        return;
      }
      std::vector<TileBox> boxes;
      boxes_of(accesses, loops, ranges, boxes);
      for (const TileBox& box : boxes) {
        Bytes bytes = bytes_of(box);
        const bool writes = (box.flags & Access::writes) != 0;
        EXPECT_TRUE(!writes || !box.exact || has_all(written, bytes)) << "round " << round;
        exact += writes && box.exact;
        (writes ? may_write : may_read).merge(bytes);
      }
      for (size_t k = tile.size(); k < loops.size(); ++k) empty_inside += ranges[k].empty() && !written.empty();
      EXPECT_TRUE(has_all(may_read, read)) << "round " << round;
      EXPECT_TRUE(has_all(may_write, written)) << "round " << round;
    });
  }
  EXPECT_GT(exact, 100);
  EXPECT_GT(empty_inside, 10);
}

// A stencil of five points: the tile itself, as another loop writes it, and four borders without the corners.
TEST(Tiles, ReadsOfAStencilAreATileAndItsBorders) {
  std::vector<char> memory(1 << 20);
  char* const base = memory.data() + (1 << 18);
  const Span loop = {{1, {}}, {99, {}}, {far, {}}, 1};
  const std::vector<Span> loops = {loop, loop};
  std::vector<TileAccess> accesses;
  for (const int64_t offset : {-800, 800, -8, 8}) accesses.push_back({Access::reads, base, offset, 8, {800, 8}});
  TileRanges ranges;
  const Interval within[] = {{16, 32}, {32, 48}};
  ASSERT_TRUE(ranges_of(loops, within, ranges));
  std::vector<TileBox> boxes;
  boxes_of(accesses, loops, ranges, boxes);
  ASSERT_EQ(boxes.size(), 5U);
  const auto is = [&](const TileBox& box, int64_t row, int64_t column, int64_t rows, int64_t columns) {
    return box.address == base + row * 800 + column * 8 && box.dims == 1 && box.count[0] == rows &&
           box.bytes == static_cast<size_t>(columns * 8);
  };
  EXPECT_TRUE(is(boxes[0], 16, 32, 16, 16));
  EXPECT_TRUE(is(boxes[1], 15, 32, 1, 16));
  EXPECT_TRUE(is(boxes[2], 32, 32, 1, 16));
  EXPECT_TRUE(is(boxes[3], 16, 31, 16, 1));
  EXPECT_TRUE(is(boxes[4], 16, 48, 16, 1));
}

}  // namespace
}  // namespace hiroba
