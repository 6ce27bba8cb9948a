// Started operations as coroutines: all come to their ends, whatever order they become ready in, and however many wait.
#include "collective/plans/operation.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace hiroba {
namespace {

struct Started {
  bool ready = false, ended = false;
};

Operation wait_for(Started& started, int& looks) {
  co_await Until([&] {
    ++looks;
    return started.ready;
  });
  started.ended = true;
}

struct Many {
  explicit Many(int count) {
    for (int i = 0; i < count; ++i) {
      Started& one = started.emplace_back();
      operations.push_back(all.start([&] { return wait_for(one, looks); }));
    }
    looks = 0;
  }
  Operations all;
  int looks = 0;
  std::deque<Started> started;
  std::vector<Operation> operations;
};

TEST(Operations, OfThousandsThatWaitFewAreLookedAtAtATime) {
  Many many(10000);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(many.all.advance());
  EXPECT_LE(many.looks, 10 * 200);
}

TEST(Operations, AllThatAreReadyRunAtOnce) {
  Many many(10000);
  for (Started& one : many.started) one.ready = true;
  EXPECT_TRUE(many.all.advance());
  for (const Started& one : many.started) EXPECT_TRUE(one.ended);
  EXPECT_FALSE(many.all.any());
}

TEST(Operations, EachIsReachedWhereverItWaits) {
  Many many(2000);
  for (const int at : {1999, 70, 0, 1000, 63, 64, 1998, 1}) {
    many.started[static_cast<size_t>(at)].ready = true;
    for (int turn = 0; turn < 80 && !many.started[static_cast<size_t>(at)].ended; ++turn) many.all.advance();
    EXPECT_TRUE(many.started[static_cast<size_t>(at)].ended) << at;
    EXPECT_TRUE(many.operations[static_cast<size_t>(at)].done());
  }
  EXPECT_TRUE(many.all.any());
}

TEST(Operations, OneThatRunsMayStartOthers) {
  Operations all;
  Started first, second;
  int looks = 0;
  std::vector<Operation> inner;
  const auto outer = [&]() -> Operation {
    co_await Until([&] { return first.ready; });
    inner.push_back(all.start([&] { return wait_for(second, looks); }));
    first.ended = true;
  };
  const Operation operation = all.start(outer);
  first.ready = second.ready = true;
  while (all.any()) all.advance();
  EXPECT_TRUE(first.ended && second.ended && operation.done());
}

}  // namespace
}  // namespace hiroba
