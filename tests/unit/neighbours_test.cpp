// Which ranks the barrier between loops waits for: against an oracle that does every iteration of every rank.
#include "loops/neighbours.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace hiroba {
namespace {

Job job_of(int nranks, int rank) {
  Job job;
  job.nranks = nranks, job.nnodes = nranks, job.rank = rank;
  job.place_evenly();
  return job;
}

struct Subscript {
  std::vector<int64_t> factors;  // of each loop
  int64_t low, high;
};

Access access_to(Array& array, int flags, const std::vector<Subscript>& subscripts) {
  Access out = {flags, "a", {}};
  View& view = out.view;
  view.array = &array, view.exact = true, view.dims = static_cast<int>(subscripts.size());
  for (size_t d = 0; d < subscripts.size(); ++d) {
    view.extent[d] = array.distribution.dim(static_cast<int>(d));
    view.low[d] = subscripts[d].low, view.high[d] = subscripts[d].high;
    std::fill_n(view.factor[d], View::most_loops, 0);
    std::copy(subscripts[d].factors.begin(), subscripts[d].factors.end(), view.factor[d]);
  }
  return out;
}

// ---- the oracle -----------------------------------------------------------------------------------------------------

// What an access touches at least and at most, in each dimension, over the given values of the loops: by doing them
// all. Loops that it does not depend on count as done once.
struct Touched {
  int flags = 0;
  const Array* array = nullptr;
  std::vector<std::pair<int64_t, int64_t>> bounds;  // inclusive
  bool any = false;
};

void visit_values(const std::vector<Values>& loops, const View& view, size_t k, std::vector<int64_t>& at,
                  Touched& touched) {
  if (k == loops.size()) {
    for (int d = 0; d < view.dims; ++d) {
      int64_t low = view.low[d], high = view.high[d];
      for (size_t i = 0; i < at.size(); ++i) low += view.factor[d][i] * at[i], high += view.factor[d][i] * at[i];
      auto& [least, most] = touched.bounds[static_cast<size_t>(d)];
      least = touched.any ? std::min(least, low) : low, most = touched.any ? std::max(most, high) : high;
    }
    touched.any = true;
    return;
  }
  bool depends = false;
  for (int d = 0; d < view.dims; ++d) depends = depends || view.factor[d][k] != 0;
  const Values& v = loops[k];
  if (!depends) {
    at[k] = 0;
    return visit_values(loops, view, k + 1, at, touched);
  }
  for (int64_t value = v.first; v.step > 0 ? value < v.end : value > v.end; value += v.step) {
    at[k] = value;
    visit_values(loops, view, k + 1, at, touched);
  }
}

std::vector<Touched> touched_by(const Execution& loop, const std::vector<Values>& values) {
  std::vector<Touched> out;
  for (int k = 0; k < loop.shared; ++k)
    if (values[static_cast<size_t>(k)].first >= values[static_cast<size_t>(k)].end) return out;
  for (const Access& access : loop.accesses) {
    Touched touched = {access.flags, access.view.array, {}, false};
    touched.bounds.resize(static_cast<size_t>(access.view.dims));
    std::vector<int64_t> at(values.size());
    visit_values(values, access.view, 0, at, touched);
    if (touched.any) out.push_back(touched);
  }
  return out;
}

std::vector<Touched> touched_by(const Job& job, int rank, const Execution& loop) {
  return touched_by(loop, part_of(job, rank, loop).second);
}

bool meet(const std::vector<Touched>& some, const std::vector<Touched>& others) {
  for (const Touched& a : some)
    for (const Touched& b : others) {
      bool common = a.array == b.array && ((a.flags | b.flags) & Access::writes) != 0;
      for (size_t d = 0; common && d < a.bounds.size(); ++d)
        common = a.bounds[d].first <= b.bounds[d].second && b.bounds[d].first <= a.bounds[d].second;
      if (common) return true;
    }
  return false;
}

// ---- random loops ---------------------------------------------------------------------------------------------------

class Programs {
 public:
  explicit Programs(uint32_t seed) : random_(seed) {
    nranks = 2 + below(4);
    while (arrays_.size() < 2) add_array();
  }
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  Execution loop() {
    Execution out;
    const int loops = 1 + below(3);
    out.shared = 1 + below(std::min(2, loops));
    for (int k = 0; k < loops; ++k) {
      Values values = {below(6), 0, 1 + below(3)};
      values.end = values.first + below(16) - (below(8) == 0 ? 12 : 0);
      if (k >= out.shared && below(3) == 0) values = {values.end, values.first - 1, -values.step};
      out.values.push_back(values);
    }
    for (int n = 1 + below(3); n > 0; --n) {
      Array& array = *arrays_[static_cast<size_t>(below(2))];
      std::vector<Subscript> subscripts;
      for (int d = 0; d < array.distribution.dims(); ++d) {
        const int64_t low = below(5) - 2;
        Subscript subscript = {std::vector<int64_t>(static_cast<size_t>(loops), 0), low, low + (below(4) == 0)};
        for (int uses = 1 + (below(4) == 0); uses > 0; --uses)
          subscript.factors[static_cast<size_t>(below(loops))] = below(6) == 0 ? -1 - below(2) : 1 + (below(5) == 0);
        if (below(6) == 0) std::fill(subscript.factors.begin(), subscript.factors.end(), 0);
        subscripts.push_back(subscript);
      }
      const int flags = below(2) == 0 ? Access::writes : Access::reads;
      out.accesses.push_back(access_to(array, flags, subscripts));
    }
    return out;
  }
  int nranks;

 private:
  void add_array() {
    const int64_t dim[] = {8 + below(20), 4 + below(12)}, pieces = 1 + below(nranks);
    const int64_t div[] = {pieces, below(2) == 0 ? std::max<int64_t>(1, nranks / pieces) : 1};
    const size_t dims = below(2) == 0 ? 1 : 2;
    auto array = std::make_unique<Array>();
    const int count = static_cast<int>(dims == 1 ? div[0] : div[0] * div[1]);
    if (Distribution::make({dim, dims}, {div, dims}, 8, 0, count, nranks, array->distribution).ok())
      arrays_.push_back(std::move(array));
  }
  std::mt19937 random_;
  std::vector<std::unique_ptr<Array>> arrays_;
};

uint32_t seed_of_run() {
  static const uint32_t seed = std::random_device()();
  return seed;
}

TEST(Neighbours, AreTheRanksThatHaveSomethingInCommon) {
  int waits = 0, free = 0;
  for (uint32_t round = 0; round < 3000; ++round) {
    Programs programs(seed_of_run() + round);
    std::vector<Execution> done;
    for (int n = 1 + programs.below(3); n > 0; --n) done.push_back(programs.loop());
    const Execution next = programs.loop();
    std::vector<std::set<int>> named;
    for (int me = 0; me < programs.nranks; ++me) {
      const Job job = job_of(programs.nranks, me);
      const std::vector<int> others = needs_of(job, done, next).others;
      std::vector<int> expected;
      for (int r = 0; r < programs.nranks; ++r) {
        bool common = false;
        for (const Execution& loop : done)
          common = common || meet(touched_by(job, me, loop), touched_by(job, r, next)) ||
                   meet(touched_by(job, r, loop), touched_by(job, me, next));
        if (common && r != me) expected.push_back(r);
      }
      ASSERT_EQ(expected, others) << "rank " << me << ", seed " << seed_of_run() + round;
      named.emplace_back(others.begin(), others.end());
      waits += !others.empty(), free += others.empty();
    }
    for (int a = 0; a < programs.nranks; ++a)
      for (const int b : named[static_cast<size_t>(a)])
        ASSERT_TRUE(named[static_cast<size_t>(b)].contains(a)) << "they name each other";
  }
  EXPECT_GT(waits, 1000) << "seed " << seed_of_run();
  EXPECT_GT(free, 500) << "seed " << seed_of_run();
}

TEST(Neighbours, IndependentIterationsTouchNothingOfOtherRanks) {
  int64_t all = 0, independent = 0;
  for (uint32_t round = 0; round < 3000; ++round) {
    Programs programs(seed_of_run() + round);
    const std::vector<Execution> done = {programs.loop(), programs.loop()};
    const Execution next = programs.loop();
    for (int me = 0; me < programs.nranks; ++me) {
      const Job job = job_of(programs.nranks, me);
      const Interval found = needs_of(job, done, next).independent;
      const std::vector<Values> mine = part_of(job, me, next).second;
      for (int64_t v = mine[0].first; v < mine[0].end; v += mine[0].step) {
        std::vector<Values> one = mine;
        one[0] = {v, v + 1, 1};
        bool common = false;
        for (int r = 0; r < programs.nranks; ++r)
          for (const Execution& loop : done)
            common = common || (r != me && meet(touched_by(job, r, loop), touched_by(next, one)));
        const bool is_in = v >= found.begin && v < found.end;
        ASSERT_FALSE(is_in && common) << "rank " << me << ", value " << v << ", seed " << seed_of_run() + round;
        all += !common, independent += is_in;
      }
      if (!found.empty()) {
        ASSERT_GE(found.begin, mine[0].first);
        ASSERT_LE(found.end, mine[0].end);
      }
    }
  }
  EXPECT_GT(independent, all * 8 / 10) << "of " << all << ", seed " << seed_of_run();
}

// ---- loops as programs have them ------------------------------------------------------------------------------------

class Stencil : public testing::Test {
 protected:
  void SetUp() override {
    const int64_t dim[] = {40, 40}, div[] = {4, 1};
    for (Array* array : {&a, &b}) ASSERT_TRUE(Distribution::make(dim, div, 8, 0, 4, 4, array->distribution).ok());
  }
  // to[i][j] = from[i + low .. i + high][j], 1 <= i < 39
  static Execution loop(Array& to, Array& from, int64_t low, int64_t high) {
    Execution out;
    out.accesses = {access_to(to, Access::writes, {{{1, 0}, 0, 0}, {{0, 1}, 0, 0}}),
                    access_to(from, Access::reads, {{{1, 0}, low, high}, {{0, 1}, 0, 0}})};
    out.values = {{1, 39, 1}, {0, 40, 1}}, out.shared = 1;
    return out;
  }
  static Needs needs(int rank, const std::vector<Execution>& done, const Execution& next) {
    return needs_of(job_of(4, rank), done, next);
  }
  static void expect(int begin, int end, Interval found) {
    EXPECT_EQ(begin, found.begin);
    EXPECT_EQ(end, found.end);
  }
  Array a, b;
};
using NeighboursStencil = Stencil;

TEST_F(NeighboursStencil, TheRanksBesideAreWaitedForAndTheInnerRowsAreIndependent) {
  const std::vector<Execution> done = {loop(a, b, -1, 1)};
  const Execution next = loop(b, a, -1, 1);
  EXPECT_EQ((std::vector<int>{1}), needs(0, done, next).others);
  EXPECT_EQ((std::vector<int>{0, 2}), needs(1, done, next).others);
  EXPECT_EQ((std::vector<int>{2}), needs(3, done, next).others);
  expect(1, 9, needs(0, done, next).independent);
  expect(11, 19, needs(1, done, next).independent);
  expect(31, 39, needs(3, done, next).independent);
}

TEST_F(NeighboursStencil, ALoopIsKnownByItsAccessesAndValues) {
  const Execution one = loop(a, b, -1, 1);
  EXPECT_TRUE(same(one, loop(a, b, -1, 1)));
  const auto differs = [&](const auto& change) {
    Execution other = loop(a, b, -1, 1);
    change(other);
    EXPECT_TRUE(same(other, other));
    return !same(one, other) && !same(other, one);
  };
  EXPECT_TRUE(differs([](Execution& other) { other.shared = 2; }));
  EXPECT_TRUE(differs([](Execution& other) { other.values[0].first = 2; }));
  EXPECT_TRUE(differs([](Execution& other) { other.values[1].end = 39; }));
  EXPECT_TRUE(differs([](Execution& other) { other.values[1].step = 2; }));
  EXPECT_TRUE(differs([](Execution& other) { other.values.pop_back(); }));
  EXPECT_TRUE(differs([](Execution& other) { other.accesses.pop_back(); }));
  EXPECT_TRUE(differs([](Execution& other) { other.accesses[1].flags = Access::writes; }));
  EXPECT_TRUE(differs([this](Execution& other) { other.accesses[1].view.array = &a; }));
  EXPECT_TRUE(differs([](Execution& other) { other.accesses[1].view.exact = false; }));
  EXPECT_TRUE(differs([](Execution& other) { other.accesses[1].view.dims = 1; }));
  EXPECT_TRUE(differs([](Execution& other) { other.accesses[1].view.low[0] = -2; }));
  EXPECT_TRUE(differs([](Execution& other) { other.accesses[1].view.high[1] = 1; }));
  EXPECT_TRUE(differs([](Execution& other) { other.accesses[1].view.factor[1][1] = 2; }));
}

TEST_F(NeighboursStencil, WithoutAHaloNobodyIsWaitedFor) {
  const Needs found = needs(1, {loop(a, b, 0, 0)}, loop(b, a, 0, 0));
  EXPECT_TRUE(found.others.empty());
  expect(10, 20, found.independent);
}

TEST_F(NeighboursStencil, WhatIsOnlyReadNeedsNoOrder) {
  Execution reads = loop(a, b, -1, 1);
  reads.accesses.erase(reads.accesses.begin());
  EXPECT_TRUE(needs(1, {reads}, reads).others.empty());
}

TEST_F(NeighboursStencil, EarlierLoopsCountToo) {
  const std::vector<Execution> done = {loop(a, b, -12, 0), loop(b, b, 0, 0)};
  const Needs found = needs(2, done, loop(b, b, 0, 0));
  EXPECT_EQ((std::vector<int>{0, 1, 3}), found.others) << "rank 2 has read what 0 and 1 write, and 3 what it writes";
  EXPECT_TRUE(found.independent.empty());
}

TEST_F(NeighboursStencil, ATransposedArrayNeedsAll) {
  Execution transposed = loop(b, a, 0, 0);
  transposed.accesses[1] = access_to(a, Access::reads, {{{0, 1}, 0, 0}, {{1, 0}, 0, 0}});
  const Needs found = needs(1, {loop(a, b, 0, 0)}, transposed);
  EXPECT_EQ((std::vector<int>{0, 2, 3}), found.others);
  EXPECT_TRUE(found.independent.empty());
}

TEST_F(NeighboursStencil, BytesAndElementsAreNotCompared) {
  Execution bytes = loop(b, a, 0, 0);
  Access& access = bytes.accesses[1];
  access.view.exact = false, access.view.dims = 1;
  access.view.factor[0][0] = 40 * 8;
  const Needs found = needs(1, {loop(a, b, 0, 0)}, bytes);
  EXPECT_EQ((std::vector<int>{0, 2, 3}), found.others);
  EXPECT_TRUE(found.independent.empty());
}

TEST_F(NeighboursStencil, OfValuesWithACommonOneBetweenTheLongerSideIsIndependent) {
  Execution writes = loop(a, b, 0, 0);
  writes.accesses = {access_to(a, Access::writes, {{{0, 0}, 13, 13}, {{0, 1}, 0, 0}}),
                     access_to(b, Access::owns, {{{1, 0}, 0, 0}, {{0, 1}, 0, 0}})};
  const Needs found = needs(1, {writes}, loop(a, a, 0, 0));
  EXPECT_EQ((std::vector<int>{0, 2, 3}), found.others);
  expect(14, 20, found.independent);
}

}  // namespace
}  // namespace hiroba
