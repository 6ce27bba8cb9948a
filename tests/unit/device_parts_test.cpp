// The parts of the floor of devices, one at a time.
#include <gtest/gtest.h>

#include "device/copies.hpp"
#include "device/digest.hpp"
#include "device/helpers.hpp"
#include "device/order.hpp"
#include "device/share.hpp"

namespace hiroba {
namespace {

using Shares = std::vector<std::vector<int>>;

TEST(DeviceShare, DevicesGoToRanksOfTheirDomain) {
  EXPECT_EQ(share_devices({0, 1}, {1, 0}), (Shares{{1}, {0}}));
  EXPECT_EQ(share_devices({0, 0, 1, 1}, {0, 0, 1, 1}), (Shares{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(share_devices({0}, {1, 0, 1}), (Shares{{0, 1, 2}}));
}

TEST(DeviceShare, RanksWithoutADeviceOfTheirOwnShareOne) {
  EXPECT_EQ(share_devices({0, 0, 1, 1}, {0, 1}), (Shares{{0}, {0}, {1}, {1}}));
  EXPECT_EQ(share_devices({-1, -1, -1}, {-1}), (Shares{{0}, {0}, {0}}));
  EXPECT_EQ(share_devices({0, 1}, {}), (Shares{{}, {}}));
}

TEST(DeviceShare, NoRankTakesAllDevicesOfOneDomain) {
  EXPECT_EQ(share_devices({0, 1}, {0, 0, 0, 0}), (Shares{{0, 1}, {2, 3}}));
}

TEST(DeviceDigest, EveryChangeOfAByteShows) {
  std::vector<char> bytes(1000, 7), copy(1000);
  const Digest before = digest_of(bytes.data(), bytes.size());
  for (char& byte : bytes) {
    byte ^= 1;
    EXPECT_NE(digest_of(bytes.data(), bytes.size()), before);
    byte ^= 1;
  }
  EXPECT_EQ(digest_of(bytes.data(), bytes.size()), before);
  EXPECT_NE(digest_of(bytes.data(), bytes.size() - 1), before);
  EXPECT_EQ(copy_and_digest(copy.data(), bytes.data(), bytes.size()), before);
  EXPECT_EQ(copy, bytes);
}

TEST(DeviceDigest, ZerosAtTheEndCount) {
  const std::vector<char> zeros(256);
  EXPECT_NE(digest_of(zeros.data(), 64), digest_of(zeros.data(), 65));
  EXPECT_NE(digest_of(zeros.data(), 0), digest_of(zeros.data(), 1));
}

TEST(DeviceDigest, LargeCopiesAreWhole) {
  for (const size_t bytes : {16384UL, 20001UL, 100063UL}) {
    std::vector<char> from(bytes), to(bytes + 64);
    for (size_t i = 0; i < bytes; ++i) from[i] = static_cast<char>(i * 31);
    for (const size_t shift : {0UL, 1UL, 16UL}) {
      EXPECT_EQ(copy_and_digest(to.data() + shift, from.data(), bytes), digest_of(from.data(), bytes));
      EXPECT_TRUE(std::equal(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(shift)));
    }
  }
}

TEST(DeviceHelpers, EachPieceIsCopiedOnce) {
  Helpers helpers;
  ASSERT_TRUE(helpers.start(3).ok());
  std::vector<std::atomic<int>> seen(500);
  std::vector<std::atomic<int>> inside(static_cast<size_t>(helpers.width()));
  const Status status = helpers.share(seen.size(), [&](int worker, size_t i) -> Status {
    EXPECT_EQ(inside[static_cast<size_t>(worker)].fetch_add(1), 0);
    ++seen[i];
    inside[static_cast<size_t>(worker)].fetch_sub(1);
    return {};
  });
  EXPECT_TRUE(status.ok());
  for (const auto& times : seen) EXPECT_EQ(times, 1);
}

TEST(DeviceHelpers, AnErrorEndsTheWork) {
  Helpers helpers;
  ASSERT_TRUE(helpers.start(2).ok());
  std::atomic<int> done = 0;
  const Status status = helpers.share(100000, [&](int, size_t i) {
    ++done;
    return i == 10 ? Status::error("ten") : Status();
  });
  EXPECT_EQ(status.message(), "ten");
  EXPECT_LT(done, 100000);
}

DeviceSection box(char* at, size_t bytes, std::initializer_list<std::pair<int64_t, int64_t>> dims) {
  DeviceSection out(at, bytes);
  for (const auto& [count, stride] : dims) out.add(count, stride);
  return out;
}

TEST(DeviceCopyFind, APartOfABoxIsWhereItsRowsAre) {
  static char memory[4096];
  DeviceCopy copy;
  copy.section = box(memory + 100, 40, {{5, 400}, {4, 64}});  // 5 x 4 rows of 40 bytes
  copy.device = memory;
  DeviceSection there;
  ASSERT_TRUE(copy.find(box(memory + 100 + 400 + 64 + 8, 16, {{3, 400}, {2, 128}}), there));
  EXPECT_EQ(there.address, memory + 160 + 40 + 8);
  EXPECT_EQ(there.stride[0], 160);
  EXPECT_EQ(there.stride[1], 80);
  ASSERT_TRUE(copy.find(copy.section, there));
  EXPECT_EQ(there, copy.section.dense(memory));
  EXPECT_FALSE(copy.find(box(memory + 100, 41, {}), there)) << "past the end of a row";
  EXPECT_FALSE(copy.find(box(memory + 99, 8, {}), there)) << "before the first row";
  EXPECT_FALSE(copy.find(box(memory + 100 + 64, 8, {{5, 64}}), there)) << "past the last row of a plane";
  EXPECT_FALSE(copy.find(box(memory + 100, 8, {{6, 400}}), there)) << "past the last plane";
}

DeviceUse use(DeviceUse::Kind kind, char* at, size_t bytes, const void* copy, const char* place) {
  return {kind, DeviceSection(at, bytes), 0, place, "k", copy};
}

class DeviceOrderTest : public ::testing::Test {
 protected:
  using Kind = DeviceUse::Kind;
  DeviceOrder order{[](const DeviceSection&) { return std::string("bytes"); }};
  size_t s = order.add_stream(), t = order.add_stream();
  char memory[1000] = {};
  bool nothing = false;

  std::string add(Kind kind, size_t stream, const char* place, size_t at = 0, size_t bytes = 1000) {
    clock = order.begin(stream);
    return order.add(use(kind, memory + at, bytes, this, place), stream, nothing).message();
  }
  DeviceClock clock;
};

TEST_F(DeviceOrderTest, OneStreamIsInOrder) {
  EXPECT_EQ(add(Kind::preload, s, "a"), "");
  EXPECT_EQ(add(Kind::reads, s, "b"), "");
  EXPECT_EQ(add(Kind::writes, s, "c"), "");
  EXPECT_EQ(add(Kind::overload, s, "d"), "");
  EXPECT_EQ(add(Kind::preload, s, "e"), "");
  EXPECT_FALSE(nothing);
}

TEST_F(DeviceOrderTest, OrderPassesThroughOtherStreams) {
  const size_t u = order.add_stream();
  EXPECT_EQ(add(Kind::preload, s, "a"), "");
  order.after(t, s);
  (void)order.begin(t);
  order.after(u, t);
  EXPECT_EQ(add(Kind::writes, u, "b"), "");
  EXPECT_NE(add(Kind::reads, s, "c").find("kernel k at c and kernel k at b use bytes in two streams"),
            std::string::npos);
}

TEST_F(DeviceOrderTest, AWaitOrdersWhatIsCalledLater) {
  EXPECT_EQ(add(Kind::preload, s, "a"), "");
  order.waited(clock);
  EXPECT_EQ(add(Kind::writes, t, "b"), "");
}

TEST_F(DeviceOrderTest, ReadersNeedNoOrder) {
  EXPECT_EQ(add(Kind::preload, s, "a"), "");
  order.after(t, s);
  EXPECT_EQ(add(Kind::reads, s, "b"), "");
  EXPECT_EQ(add(Kind::reads, t, "c"), "");
  EXPECT_NE(add(Kind::writes, t, "d"), "");
}

TEST_F(DeviceOrderTest, OtherBytesNeedNoOrder) {
  EXPECT_EQ(add(Kind::preload, s, "a", 0, 500), "");
  EXPECT_EQ(add(Kind::preload, t, "b", 500, 500), "");
  EXPECT_EQ(add(Kind::writes, t, "c", 500, 500), "");
  EXPECT_EQ(add(Kind::writes, s, "d", 0, 500), "");
}

TEST_F(DeviceOrderTest, AMistakeIsToldWithBothPlacesOrAlone) {
  EXPECT_EQ(add(Kind::reads, s, "a"), "");
  EXPECT_TRUE(nothing);
  EXPECT_NE(add(Kind::preload, s, "b").find("kernel k at a of bytes comes before the preload at b"), std::string::npos);
  EXPECT_EQ(add(Kind::reads, s, "c", 0, 10), "") << "the preload is recorded after all";
}

TEST_F(DeviceOrderTest, AMistakeIsToldAloneByAnyOtherCall) {
  EXPECT_EQ(add(Kind::overload, s, "a"), "");
  EXPECT_TRUE(nothing);
  EXPECT_NE(order.told().message().find("the overload at a writes back bytes, which no kernel has written"),
            std::string::npos);
  EXPECT_TRUE(order.told().ok());
}

TEST_F(DeviceOrderTest, WhatIsWrittenBackMayBeOverwritten) {
  EXPECT_EQ(add(Kind::writes, s, "a", 100, 100), "");
  EXPECT_NE(order.unsaved(this), nullptr);
  EXPECT_NE(add(Kind::preload, s, "b"), "");
  EXPECT_EQ(add(Kind::overload, s, "c"), "");
  EXPECT_EQ(order.unsaved(this), nullptr);
  EXPECT_EQ(add(Kind::preload, s, "d"), "");
}

TEST_F(DeviceOrderTest, UsesDoNotPileUp) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(add(Kind::preload, s, "a"), "");
    ASSERT_EQ(add(Kind::reads, s, "b"), "");
    ASSERT_EQ(add(Kind::writes, s, "c"), "");
    ASSERT_EQ(add(Kind::overload, s, "d"), "");
  }
  EXPECT_LE(order.uses(), 4U);
}

}  // namespace
}  // namespace hiroba
