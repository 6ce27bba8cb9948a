#include "memory/diff.hpp"
#include "memory/notices.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "memory/lines.hpp"

namespace hiroba {
namespace {

using Page = std::array<unsigned char, page_bytes>;

struct alignas(4096) Pages {
  Page now, twin;
};

void apply(const uint64_t* pieces, size_t words, uint64_t offset, Page& page) {
  for (size_t i = 0; i < words;) {
    const size_t bytes = pieces[i] & 0xffff, at = (pieces[i] >> 16) - offset;
    ASSERT_LE(at + bytes, page.size());
    std::memcpy(&page[at], &pieces[i + 1], bytes);
    i += 1 + (bytes + 7) / 8;
  }
}

TEST(Diff, AppliedToTheTwinGivesThePageAndTouchesNothingElse) {
  std::mt19937 random(5);
  auto pages = std::make_unique<Pages>();
  std::array<uint64_t, max_diff_words> out;
  for (const unsigned density : {0u, 1u, 2u, 30u, 500u, 4096u})
    for (int round = 0; round < 40; ++round) {
      for (unsigned char& byte : pages->twin) byte = static_cast<unsigned char>(random());
      pages->now = pages->twin;
      Page changed{};
      const auto change = [&](size_t at) {
        pages->now[at] = static_cast<unsigned char>(pages->twin[at] + 1 + random() % 255);
        changed[at] = 1;
      };
      for (unsigned i = 0; i < density; ++i) change(random() % page_bytes);
      for (unsigned i = 0; i < density / 10; ++i)  // whole lines go another way
        for (size_t at = random() % 64 * 64, end = at + 64; at < end; ++at) change(at);
      constexpr uint64_t offset = uint64_t{123} << 20;
      // The home has other values wherever this rank has not written: another writer's.
      Page home;
      for (size_t i = 0; i < home.size(); ++i) home[i] = static_cast<unsigned char>(~pages->twin[i]);
      const size_t words = diff_page(pages->now.data(), pages->twin.data(), offset, out.data());
      EXPECT_EQ(density == 0, words == 0);
      const Page before = home;
      if (words == whole_page) {
        home = pages->twin;
      } else {
        ASSERT_LE(words, max_diff_words);
        apply(out.data(), words, offset, home);
      }
      for (size_t i = 0; i < home.size(); ++i)
        ASSERT_EQ(changed[i] != 0 ? pages->now[i] : before[i], home[i]) << "byte " << i;
      EXPECT_EQ(pages->now, pages->twin);
      EXPECT_EQ(0u, diff_page(pages->now.data(), pages->twin.data(), offset, out.data()));
    }
}

TEST(Diff, EveryWayToCompareLinesFindsTheSame) {
  std::mt19937 random(7);
  auto pages = std::make_unique<Pages>();
  const auto* now = reinterpret_cast<const char*>(pages->now.data());
  const auto* twin = reinterpret_cast<const char*>(pages->twin.data());
  for (int round = 0; round < 200; ++round) {
    for (unsigned char& byte : pages->twin) byte = static_cast<unsigned char>(random());
    pages->now = pages->twin;
    Lines expected;
    for (size_t line = 0; line < page_bytes / line_bytes; ++line) {
      const size_t changes = random() % 4 == 0 ? line_bytes : random() % 3;  // all bytes, or a few, or none
      const size_t first = changes == line_bytes ? 0 : random() % (line_bytes - 2);
      for (size_t i = first; i < first + changes; ++i)
        pages->now[line * line_bytes + i] ^= static_cast<unsigned char>(1 + random() % 255);
      if (changes > 0) expected.changed |= uint64_t{1} << line;
      if (changes == line_bytes) expected.whole |= uint64_t{1} << line;
    }
    for (const CompareLines compare : line_comparisons()) {
      const Lines found = compare(now, twin);
      ASSERT_EQ(expected.changed, found.changed);
      ASSERT_EQ(expected.whole, found.whole);
    }
  }
}

TEST(Diff, TheWorstCaseFits) {
  auto pages = std::make_unique<Pages>();
  std::array<uint64_t, max_diff_words> out;
  pages->twin.fill(0);
  for (size_t i = 0; i < page_bytes; ++i) pages->now[i] = i % 2 == 0;
  EXPECT_EQ(max_diff_words, diff_page(pages->now.data(), pages->twin.data(), 0, out.data()));
}

TEST(Diff, APageThatChangedInEveryByteIsItsTwinThen) {
  auto pages = std::make_unique<Pages>();
  std::array<uint64_t, max_diff_words> out;
  for (size_t i = 0; i < page_bytes; ++i) pages->now[i] = static_cast<unsigned char>(~(pages->twin[i] = i % 251));
  EXPECT_EQ(whole_page, diff_page(pages->now.data(), pages->twin.data(), 0, out.data()));
  EXPECT_EQ(pages->now, pages->twin);
  EXPECT_EQ(0u, diff_page(pages->now.data(), pages->twin.data(), 0, out.data()));
}

TEST(Diff, OneChangedWordIsTwoWords) {
  auto pages = std::make_unique<Pages>();
  std::array<uint64_t, max_diff_words> out;
  pages->twin.fill(0);
  pages->now.fill(0);
  std::memset(&pages->now[800], 0xff, 8);
  EXPECT_EQ(2u, diff_page(pages->now.data(), pages->twin.data(), 0, out.data()));
}

// What the home has new goes in; what this rank has written since the twin stays, also in the same word.
TEST(MergePage, KeepsWhatWasWrittenHere) {
  alignas(64) char twin[page_bytes], fresh[page_bytes], page[page_bytes];
  for (size_t i = 0; i < page_bytes; ++i) twin[i] = static_cast<char>(i % 101);
  std::memcpy(fresh, twin, page_bytes), std::memcpy(page, twin, page_bytes);
  for (size_t i = 0; i < page_bytes; i += 7) fresh[i] = -1;
  for (size_t i = 3; i < page_bytes; i += 14) page[i] = -2;
  char expected[page_bytes];
  for (size_t i = 0; i < page_bytes; ++i) expected[i] = fresh[i] != twin[i] ? fresh[i] : page[i];
  merge_page(fresh, twin, page);
  EXPECT_EQ(0, std::memcmp(expected, page, page_bytes));
  EXPECT_EQ(0, std::memcmp(fresh, twin, page_bytes)) << "the next difference is what was written here";
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
