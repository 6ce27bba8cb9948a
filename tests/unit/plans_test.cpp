// Plans of collective operations, carried out in memory by all members of a team together, against what MPI says the
// result is.
#include "collective/plans/plans.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>

namespace hiroba {
namespace {

constexpr uint64_t prime = 1000003;

// x -> a x + b: composition is associative, and does not commute.
struct Affine {
  uint64_t a, b;
  bool operator==(const Affine&) const = default;
};

void compose(void* mine, const void* theirs, int64_t count, void*) {
  auto* const m = static_cast<Affine*>(mine);
  const auto* const t = static_cast<const Affine*>(theirs);
  for (int64_t i = 0; i < count; ++i) m[i] = {m[i].a * t[i].a % prime, (m[i].a * t[i].b + m[i].b) % prime};
}

Combine composition() {
  Combine out;
  out.record = sizeof(Affine), out.function = compose;
  return out;
}

constexpr size_t elements = 5;

struct Shape {
  int members;
  size_t tree;  // from this number of members on; SIZE_MAX: never
  size_t sliced;
};

class PlansTest : public testing::TestWithParam<Shape> {
 protected:
  int n() const { return GetParam().members; }
  size_t members() const { return static_cast<size_t>(n()); }
  Member member(int me) const { return {me, n(), GetParam().sliced, GetParam().tree}; }

  // Every member's block of each phase, in an order of members that a seed chooses: nobody may count on another one's
  // being earlier or later. Memory that the plans need besides is lent.
  void perform(std::vector<Plan>& plans) {
    std::vector<std::vector<char>> rooms;
    for (Plan& plan : plans) {
      rooms.emplace_back(plan.room);
      plan.lend(rooms.back().data());
      ASSERT_EQ(0U, plan.copied);
      ASSERT_EQ(plans[0].phases.size(), plan.phases.size());
      ASSERT_LE(plan.phases.size(), Plan::most_phases);
    }
    for (size_t p = 0; p < plans[0].phases.size(); ++p) {
      std::vector<int> order(members());
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random_);
      for (const int taker : order) take(plans, p, taker);
    }
  }

  std::vector<Affine> given(int member) const {
    std::vector<Affine> out;
    for (size_t i = 0; i < elements; ++i) out.push_back({static_cast<uint64_t>(member) * 7 + i + 2, i * 31 + 1});
    return out;
  }
  std::vector<Affine> combined(int first, int last) const {
    std::vector<Affine> out = given(first);
    for (int m = first + 1; m <= last; ++m) {
      const std::vector<Affine> theirs = given(m);
      compose(out.data(), theirs.data(), elements, nullptr);
    }
    return out;
  }

 private:
  void take(const std::vector<Plan>& plans, size_t p, int taker) const {
    const Step& mine = plans[static_cast<size_t>(taker)].phases[p];
    std::vector<const char*> pieces;
    for (int giver = 0; giver < n(); ++giver) {
      const Blocks& give = plans[static_cast<size_t>(giver)].phases[p].give;
      const size_t bytes = mine.take.bytes_of(giver);
      ASSERT_EQ(bytes, giver == taker && !mine.combine ? bytes : give.bytes_of(taker))
          << "from " << giver << " to " << taker << " in phase " << p;
      if (bytes == 0) continue;
      if (mine.combine) pieces.push_back(give.of(taker));
      else if (mine.take.of(giver) != give.of(taker)) std::memcpy(mine.take.of(giver), give.of(taker), bytes);
    }
    // The result may go to where the own block is; the exchange keeps a copy of it.
    std::vector<char> own;
    for (const char*& piece : pieces)
      if (piece == mine.take.base) own.assign(piece, piece + mine.take.bytes_of(taker)), piece = own.data();
    if (!pieces.empty()) mine.combine->all(mine.take.base, pieces, mine.take.bytes_of(taker));
  }

  std::mt19937_64 random_{7};
};

TEST_P(PlansTest, AllreduceCombinesInTheOrderOfMembers) {
  for (const bool in_place : {false, true}) {
    std::vector<std::vector<Affine>> send, recv(members(), std::vector<Affine>(elements));
    std::vector<Plan> plans;
    for (int m = 0; m < n(); ++m) send.push_back(given(m));
    if (in_place) recv = send;
    for (size_t m = 0; m < members(); ++m)
      plans.push_back(plan_allreduce(member(static_cast<int>(m)), in_place ? nullptr : send[m].data(), recv[m].data(),
                                     elements, composition()));
    std::vector<std::vector<char>> copies;  // as an operation works on
    for (Plan& plan : plans) {
      if (plan.copied == 0) continue;
      char*& from = plan.phases[0].give.base;
      copies.emplace_back(from, from + std::exchange(plan.copied, 0));
      from = copies.back().data();
    }
    perform(plans);
    for (size_t m = 0; m < members(); ++m) ASSERT_EQ(combined(0, n() - 1), recv[m]) << "member " << m;
  }
}

TEST_P(PlansTest, ReduceGivesTheRootTheSame) {
  for (int root = 0; root < n(); ++root) {
    std::vector<std::vector<Affine>> send;
    std::vector<Affine> recv(elements);
    std::vector<Plan> plans;
    for (int m = 0; m < n(); ++m) send.push_back(given(m));
    for (int m = 0; m < n(); ++m)
      plans.push_back(plan_reduce(member(m), root, send[static_cast<size_t>(m)].data(),
                                  m == root ? recv.data() : nullptr, elements, composition()));
    perform(plans);
    ASSERT_EQ(combined(0, n() - 1), recv) << "root " << root;
    for (int m = 0; m < n(); ++m) ASSERT_EQ(given(m), send[static_cast<size_t>(m)]) << "what was given has changed";
  }
}

TEST_P(PlansTest, BcastReachesAllFromAnyRoot) {
  for (int root = 0; root < n(); ++root) {
    std::vector<std::vector<Affine>> buffers(members(), std::vector<Affine>(elements));
    std::vector<Plan> plans;
    buffers[static_cast<size_t>(root)] = given(root);
    for (size_t m = 0; m < members(); ++m)
      plans.push_back(plan_bcast(member(static_cast<int>(m)), root, buffers[m].data(), elements * sizeof(Affine)));
    perform(plans);
    for (size_t m = 0; m < members(); ++m) ASSERT_EQ(given(root), buffers[m]) << "root " << root << ", member " << m;
  }
}

// After all phases each member has received from each other one, itself or through others.
TEST_P(PlansTest, ABarrierIsAfterAllHaveCome) {
  std::vector<Plan> plans;
  for (int m = 0; m < n(); ++m) plans.push_back(plan_barrier(member(m)));
  std::vector<std::vector<bool>> knows(members(), std::vector<bool>(members()));
  for (size_t m = 0; m < members(); ++m) knows[m][m] = true;
  for (size_t p = 0; p < plans[0].phases.size(); ++p) {
    const auto before = knows;
    for (size_t taker = 0; taker < members(); ++taker)
      for (size_t giver = 0; giver < members(); ++giver) {
        const size_t bytes = plans[taker].phases[p].take.bytes_of(static_cast<int>(giver));
        const size_t given = plans[giver].phases[p].give.bytes_of(static_cast<int>(taker));
        ASSERT_EQ(bytes, giver == taker ? bytes : given);
        for (size_t m = 0; bytes > 0 && m < members(); ++m) knows[taker][m] = knows[taker][m] || before[giver][m];
      }
  }
  for (size_t m = 0; m < members(); ++m)
    EXPECT_EQ(members(), static_cast<size_t>(std::count(knows[m].begin(), knows[m].end(), true)));
  perform(plans);
}

std::vector<Shape> shapes() {
  std::vector<Shape> out;
  for (const int members : {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 31})
    for (const size_t tree : {size_t{1}, SIZE_MAX})
      for (const size_t sliced : {size_t{1}, size_t{1} << 20}) out.push_back({members, tree, sliced});
  return out;
}

INSTANTIATE_TEST_SUITE_P(Teams, PlansTest, testing::ValuesIn(shapes()), [](const auto& info) {
  return std::to_string(info.param.members) + (info.param.tree == 1 ? "_tree" : "_flat") +
         (info.param.sliced == 1 ? "_large" : "_small");
});

// The root of a broadcast gives to one member in each phase, and phases are as many as the number of members has bits.
TEST(Trees, NeedFewMessagesOfEach) {
  char data[64] = {};
  for (int members = 2; members < 100; ++members) {
    const Member root = {0, members, size_t{1} << 20, 2};
    const Plan plan = plan_bcast(root, 0, data, sizeof data);
    EXPECT_GE(members, 1 << (plan.phases.size() - 1));
    for (const Step& phase : plan.phases) {
      int sent = 0;
      for (int m = 1; m < members; ++m) sent += phase.give.bytes_of(m) > 0 ? 1 : 0;
      EXPECT_LE(sent, 1) << members << " members";
    }
  }
}

}  // namespace
}  // namespace hiroba
