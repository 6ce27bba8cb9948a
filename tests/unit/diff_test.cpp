#include "memory/cache/diff.hpp"
#include "memory/notices/notices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "memory/cache/lines.hpp"

namespace hiroba {
namespace {

using Page = std::array<unsigned char, page_bytes>;

struct alignas(4096) Pages {
  Page now, twin;
};

constexpr uint64_t offset = uint64_t{123} << 20;

void apply(const uint64_t* pieces, size_t words, Page& page) {
  scatter({pieces, words}, [&](uint64_t at) { return reinterpret_cast<char*>(page.data()) + (at - offset); });
}

// What has changed in a page, published to a home; returns the words that were sent.
size_t publish(Pages& pages, size_t scalar, Page& home) {
  static std::array<uint64_t, max_diff_words> out;
  const size_t words = diff_page(pages.now.data(), pages.twin.data(), offset, scalar, out.data());
  if (words == whole_page) home = pages.twin;
  else apply(out.data(), words, home);
  return words == whole_page ? page_bytes / 8 : words;
}

TEST(Diff, AppliedToTheTwinGivesThePageAndTouchesNothingElse) {
  std::mt19937 random(5);
  auto pages = std::make_unique<Pages>();
  for (const size_t scalar : {1u, 2u, 4u, 8u})
    for (const unsigned density : {0u, 1u, 2u, 30u, 500u, 4096u, 20000u})
      for (int round = 0; round < 20; ++round) {
        for (unsigned char& byte : pages->twin) byte = static_cast<unsigned char>(random());
        pages->now = pages->twin;
        Page changed{};
        const auto change = [&](size_t at) {
          pages->now[at] = static_cast<unsigned char>(pages->twin[at] + 1 + random() % 255);
          std::memset(&changed[at / scalar * scalar], 1, scalar);
        };
        for (unsigned i = 0; i < density; ++i) change(random() % page_bytes);
        for (unsigned i = 0; i < density / 10; ++i)  // whole lines go another way
          for (size_t at = random() % 64 * 64, end = at + 64; at < end; ++at) change(at);
        // The home has other values wherever this rank has not written: another writer's.
        Page home;
        for (size_t i = 0; i < home.size(); ++i) home[i] = static_cast<unsigned char>(~pages->twin[i]);
        const Page before = home;
        const size_t words = publish(*pages, scalar, home);
        EXPECT_EQ(density == 0, words == 0);
        ASSERT_LE(words, max_diff_words);
        for (size_t i = 0; i < home.size(); ++i)
          ASSERT_EQ(changed[i] != 0 ? pages->now[i] : before[i], home[i]) << "byte " << i << ", scalar " << scalar;
        EXPECT_EQ(pages->now, pages->twin);
        EXPECT_EQ(0u, publish(*pages, scalar, home));
      }
}

// Of values that two ranks have written at a time one remains, of all others the one that was written.
TEST(Diff, TwoWritersLeaveTheValueOfOne) {
  std::mt19937 random(9);
  auto first = std::make_unique<Pages>(), second = std::make_unique<Pages>();
  for (const size_t scalar : {1u, 2u, 4u, 8u})
    for (int round = 0; round < 60; ++round) {
      Page home;
      home.fill(1);
      first->now = first->twin = second->now = second->twin = home;
      const size_t values = page_bytes / scalar;
      // Values whose bytes are often those that were there.
      const auto write = [&](Pages& pages, size_t value) {
        for (size_t b = 0; b < scalar; ++b)
          pages.now[value * scalar + b] = static_cast<unsigned char>(1 + random() % 2);
      };
      for (size_t n = random() % 3000; n > 0; --n) write(random() % 2 == 0 ? *first : *second, random() % values);
      const Page mine = first->now, other = second->now, start = home;
      publish(*first, scalar, home), publish(*second, scalar, home);
      for (size_t v = 0; v < values; ++v) {
        const auto is = [&](const Page& page) {
          return std::memcmp(&home[v * scalar], &page[v * scalar], scalar) == 0;
        };
        const auto written = [&](const Page& page) {
          return std::memcmp(&start[v * scalar], &page[v * scalar], scalar) != 0;
        };
        ASSERT_TRUE(written(other) ? is(other) : is(mine)) << "value " << v << " of " << scalar << " bytes";
      }
    }
}

// Never much more than the page, whatever has changed.
TEST(Diff, IsNoLongerThanThePageAndAFewWords) {
  std::mt19937 random(11);
  auto pages = std::make_unique<Pages>();
  Page home{};
  size_t most = 0;
  for (int round = 0; round < 3000; ++round) {
    pages->twin.fill(0);
    pages->now.fill(0);
    const size_t gap = 1 + random() % 70, length = 1 + random() % 70;
    size_t bytes = 0;
    for (size_t at = random() % 8; at < page_bytes; at += 1 + random() % gap)
      for (const size_t end = std::min(page_bytes, at + 1 + random() % length); at < end; ++at, ++bytes)
        pages->now[at] = 7;
    const size_t words = publish(*pages, 1, home);
    most = std::max(most, words);
    ASSERT_LE(words * 8, std::min(2 * bytes, page_bytes) + 2 * page_bytes / line_bytes + 4 * 8);
  }
  EXPECT_GT(most, page_bytes / 8);
}

TEST(Diff, EveryWayToCompareLinesFindsTheSame) {
  std::mt19937 random(7);
  auto pages = std::make_unique<Pages>();
  const auto* now = reinterpret_cast<const char*>(pages->now.data());
  const auto* twin = reinterpret_cast<const char*>(pages->twin.data());
  for (int round = 0; round < 200; ++round) {
    const size_t scalar = size_t{1} << random() % 4;
    for (unsigned char& byte : pages->twin) byte = static_cast<unsigned char>(random());
    pages->now = pages->twin;
    Lines expected;
    std::array<uint64_t, page_bytes / line_bytes> bytes{};
    for (size_t line = 0; line < bytes.size(); ++line) {
      const size_t step = random() % 4 == 0 ? scalar : 1 + random() % line_bytes;  // a byte of each value, or a few
      if (random() % 3 == 0) continue;
      for (size_t i = step == scalar ? random() % scalar : random() % line_bytes; i < line_bytes; i += step) {
        pages->now[line * line_bytes + i] ^= static_cast<unsigned char>(1 + random() % 255);
        bytes[line] |= uint64_t{1} << i;
      }
      expected.changed |= uint64_t{1} << line;
      if (whole_scalars(bytes[line], scalar) == ~uint64_t{0}) expected.whole |= uint64_t{1} << line;
    }
    for (const LineComparison& comparison : line_comparisons()) {
      const Lines found = comparison.compare(now, twin, scalar);
      ASSERT_EQ(expected.changed, found.changed);
      ASSERT_EQ(expected.whole, found.whole);
      Page taken = pages->twin;
      for (size_t line = 0; line < bytes.size(); ++line)
        ASSERT_EQ(bytes[line],
                  comparison.take(now + line * line_bytes, reinterpret_cast<char*>(taken.data()) + line * line_bytes));
      ASSERT_EQ(pages->now, taken);
    }
  }
}

TEST(Diff, APageThatChangedInEveryScalarIsItsTwinThen) {
  auto pages = std::make_unique<Pages>();
  std::array<uint64_t, max_diff_words> out;
  for (const size_t scalar : {1u, 2u, 4u, 8u}) {
    for (size_t i = 0; i < page_bytes; ++i)
      pages->now[i] = static_cast<unsigned char>((pages->twin[i] = i % 251) ^ (i % scalar == scalar / 2 ? 255 : 0));
    EXPECT_EQ(whole_page, diff_page(pages->now.data(), pages->twin.data(), 0, scalar, out.data()));
    EXPECT_EQ(pages->now, pages->twin);
    EXPECT_EQ(0u, diff_page(pages->now.data(), pages->twin.data(), 0, scalar, out.data()));
  }
}

TEST(Diff, OneChangedWordIsTwoWords) {
  auto pages = std::make_unique<Pages>();
  std::array<uint64_t, max_diff_words> out;
  pages->twin.fill(0);
  pages->now.fill(0);
  std::memset(&pages->now[800], 0xff, 8);
  EXPECT_EQ(2u, diff_page(pages->now.data(), pages->twin.data(), 0, 1, out.data()));
}

// What the home has new goes in; what this rank has written to other values since the twin stays, also in the same
// word.
TEST(MergePage, KeepsWhatWasWrittenHere) {
  alignas(64) char twin[page_bytes], fresh[page_bytes], page[page_bytes];
  for (const size_t scalar : {1u, 2u, 4u, 8u}) {
    for (size_t i = 0; i < page_bytes; ++i) twin[i] = static_cast<char>(i % 101);
    std::memcpy(fresh, twin, page_bytes), std::memcpy(page, twin, page_bytes);
    for (size_t i = 0; i < page_bytes; i += 7) fresh[i] = -1;
    for (size_t i = 3; i < page_bytes; i += 14) page[i] = -2;
    char expected[page_bytes];
    for (size_t i = 0; i < page_bytes; i += scalar) {
      const bool is_new = std::memcmp(fresh + i, twin + i, scalar) != 0;
      std::memcpy(expected + i, (is_new ? fresh : page) + i, scalar);
    }
    merge_page(fresh, twin, scalar, page);
    EXPECT_EQ(0, std::memcmp(expected, page, page_bytes)) << scalar;
    EXPECT_EQ(0, std::memcmp(fresh, twin, page_bytes)) << "the next difference is what was written here";
  }
}

TEST(Notices, MergeToTheSamePages) {
  std::vector<Notice> notices = {Notice::make(7, 2), Notice::make(1, 3), Notice::make(2, 1),
                                 Notice::make(4, 1), Notice::make(7, 3), Notice::make(20, 1)};
  notices.resize(merge_notices(notices));
  ASSERT_EQ(3u, notices.size());
  EXPECT_EQ(Notice::make(1, 4).word, notices[0].word);
  EXPECT_EQ(Notice::make(7, 3).word, notices[1].word);
  EXPECT_EQ(Notice::make(20, 1).word, notices[2].word);
}

}  // namespace
}  // namespace hiroba
