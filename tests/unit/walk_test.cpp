// Walks of two sections together, and the results of compound assignments.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "collective/collective.hpp"
#include "section/walk.hpp"

namespace hiroba {
namespace {

Section box(std::initializer_list<int64_t> counts, std::initializer_list<int64_t> strides) {
  Section out(nullptr, 8);
  for (size_t d = 0; d < counts.size(); ++d) out.add(counts.begin()[d], strides.begin()[d]);
  return out;
}

TEST(Walk, NeighboursAreOneBlock) {
  Walk walk;
  ASSERT_TRUE(pair_up(box({4, 5}, {40, 8}), box({4, 5}, {40, 8}), 8, walk));
  EXPECT_TRUE(walk.contiguous());
  EXPECT_EQ(walk.block, 160u);
}

TEST(Walk, RowsOfALargerMatrixStayRows) {
  Walk walk;
  ASSERT_TRUE(pair_up(box({4, 5}, {80, 8}), box({4, 5}, {40, 8}), 8, walk));
  EXPECT_EQ(walk.dims, 1);
  EXPECT_EQ(walk.block, 40u);
  EXPECT_EQ(walk.count[0], 4);
}

TEST(Walk, NothingIsAWalkOfNoBytes) {
  for (const Section& empty : {box({0}, {8}), box({0, 5}, {40, 8}), box({4, 0}, {40, 8}), box({0, 5}, {40, 16})}) {
    Walk walk;
    ASSERT_TRUE(pair_up(empty, empty, 8, walk));
    EXPECT_EQ(walk.dims, 0);
    EXPECT_EQ(walk.block, 0u);
  }
}

TEST(Walk, SeveralDimensionsOfOneStrideBecomeOne) {
  Walk walk;
  ASSERT_TRUE(pair_up(box({3, 4}, {64, 16}), box({3, 4}, {32, 8}), 8, walk));
  EXPECT_EQ(walk.dims, 1);
  EXPECT_EQ(walk.count[0], 12);
}

TEST(Walk, AnotherShapeOfAsManyElementsIsWalkedInOrder) {
  Walk walk;
  ASSERT_TRUE(pair_up(box({6, 4}, {100, 16}), box({24}, {8}), 8, walk));
  std::vector<int64_t> to, from;
  walk.for_each_block([&](int64_t t, int64_t f) { to.push_back(t), from.push_back(f); });
  ASSERT_EQ(to.size(), 24u);
  EXPECT_EQ(to[5], 116);
  EXPECT_EQ(from[5], 40);
}

TEST(Walk, ShapesThatShareNoCutNeedABuffer) {
  Walk walk;
  EXPECT_FALSE(conform(box({6, 4}, {32, 8}), box({8, 3, 1}, {24, 8, 8})));
  EXPECT_TRUE(conform(box({24}, {8}), box({8, 3}, {24, 8})));
  EXPECT_FALSE(pair_up(box({6, 4}, {64, 16}), box({8, 3}, {48, 16}), 8, walk));
}

TEST(Walk, LengthOneDoesNotCount) {
  EXPECT_TRUE(conform(box({1, 5}, {40, 8}), box({5, 1}, {8, 8})));
  EXPECT_FALSE(conform(box({2, 5}, {40, 8}), box({5, 2}, {16, 8})));
}

TEST(Walk, RowsOfARangeOfBlocks) {
  Walk walk = walk_packed(box({3, 4}, {100, 20}));
  std::vector<int64_t> seen;
  for_rows(walk, 3, 6, [&](int64_t at, int64_t count, int64_t stride) {
    for (int64_t i = 0; i < count; ++i) seen.push_back(at + i * stride);
  });
  EXPECT_EQ(seen, (std::vector<int64_t>{60, 100, 120, 140, 160, 200}));
}

TEST(Walk, PartsAreTheWholeAndNoneIsTooLarge) {
  Walk walk;
  ASSERT_TRUE(pair_up(box({3, 4, 5, 6}, {4000, 900, 170, 20}), box({3, 4, 5, 6}, {5000, 1000, 180, 16}), 8, walk));
  std::vector<int64_t> whole, parts;
  walk.for_each_block([&](int64_t to, int64_t from) { whole.push_back(to), whole.push_back(from); });
  for (const size_t most : {size_t{1}, size_t{100}, size_t{1000}, size_t{1} << 20})
    for (const int dims : {1, 2, 4}) {
      parts.clear();
      walk.for_each_part(most, dims, [&](const Walk& part, int64_t at_to, int64_t at_from) {
        EXPECT_TRUE(part.dims == 0 || (part.dims <= dims && part.total() <= most));
        part.for_each_block(
            [&](int64_t to, int64_t from) { parts.push_back(at_to + to), parts.push_back(at_from + from); });
      });
      EXPECT_EQ(whole, parts) << most << " bytes, " << dims << " dimensions";
    }
}

template <typename T>
T apply_one(Type type, Op op, T a, T b) {
  Arithmetic arithmetic;
  EXPECT_TRUE(Arithmetic::make(static_cast<int>(type), static_cast<int>(type), static_cast<int>(op), arithmetic).ok());
  arithmetic.apply(reinterpret_cast<char*>(&a), sizeof a, reinterpret_cast<const char*>(&b), sizeof b, 1);
  return a;
}

TEST(Arithmetic, IntegersWrapAround) {
  EXPECT_EQ(apply_one<int32_t>(Type::int32, Op::add, INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(apply_one<int16_t>(Type::int16, Op::mul, 300, 300), static_cast<int16_t>(90000));
  EXPECT_EQ(apply_one<int32_t>(Type::int32, Op::div, INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(apply_one<int64_t>(Type::int64, Op::mod, INT64_MIN, -1), 0);
  EXPECT_EQ(apply_one<int8_t>(Type::int8, Op::shr, -8, 1), -4);
}

TEST(Arithmetic, WhatCLacksIsRefused) {
  Arithmetic out;
  EXPECT_FALSE(
      Arithmetic::make(static_cast<int>(Type::float64), static_cast<int>(Type::float64), static_cast<int>(Op::mod), out)
          .ok());
  EXPECT_FALSE(Arithmetic::make(static_cast<int>(Type::complex_double), static_cast<int>(Type::complex_double),
                                static_cast<int>(Op::max), out)
                   .ok());
  EXPECT_FALSE(Arithmetic::make(99, 0, 0, out).ok());
  EXPECT_FALSE(Arithmetic::make(0, 0, 99, out).ok());
}

TEST(Arithmetic, MixedTypesAreComputedInTheCommonOne) {
  Arithmetic arithmetic;
  ASSERT_TRUE(Arithmetic::make(static_cast<int>(Type::int32), static_cast<int>(Type::float64),
                               static_cast<int>(Op::mul), arithmetic)
                  .ok());
  std::vector<int32_t> to(200, 3);
  std::vector<double> from(200, 1.5);
  arithmetic.apply(reinterpret_cast<char*>(to.data()), 4, reinterpret_cast<const char*>(from.data()), 8, 200);
  EXPECT_EQ(std::accumulate(to.begin(), to.end(), 0), 200 * 4);
}

TEST(Images, RanksAndIndices) {
  const Team back = {6, -2, 4, nullptr};
  EXPECT_EQ(back.rank(3), 0);
  EXPECT_EQ(back.find(4), 1);
  EXPECT_EQ(back.find(5), -1);
  EXPECT_EQ(back.find(8), -1);
  const int table[] = {5, 1, 3};
  const Team any = {0, 1, 3, table};
  EXPECT_EQ(any.find(3), 2);
  EXPECT_EQ(any.find(0), -1);
  EXPECT_NE(any.name(), back.name());
}

TEST(Arithmetic, WhatAReductionBeginsWithChangesNoNumber) {
  for (int type = 0; type < types; ++type)
    for (const Op op : reduction_op) {
      Arithmetic combine;
      if (!Arithmetic::make(type, type, static_cast<int>(op), combine).ok()) continue;
      const bool logical = op == Op::logical_and || op == Op::logical_or;
      for (const int64_t number : {0, 1, 5, -7}) {
        if (logical && number != 0 && number != 1) continue;  // these make 1 of others
        char x[2 * sizeof(long double)] = {}, sum[sizeof x] = {};
        convert(x, static_cast<Type>(type), 0, reinterpret_cast<const char*>(&number), Type::int64, 0, 1);
        store_neutral(static_cast<Type>(type), op, sum);
        combine.apply(sum, 0, x, 0, 1);
        double seen[2] = {};
        convert(reinterpret_cast<char*>(&seen[0]), Type::float64, 0, x, static_cast<Type>(type), 0, 1);
        convert(reinterpret_cast<char*>(&seen[1]), Type::float64, 0, sum, static_cast<Type>(type), 0, 1);
        EXPECT_EQ(seen[0], seen[1]) << number << ' ' << name_of(op) << ' ' << name_of(static_cast<Type>(type));
      }
    }
}

}  // namespace
}  // namespace hiroba
