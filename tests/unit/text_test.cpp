#include "base/text.hpp"

#include <gtest/gtest.h>

namespace hiroba {
namespace {

TEST(Text, BytesWithAndWithoutUnits) {
  EXPECT_EQ(4096u, parse_bytes("4096"));
  EXPECT_EQ(4096u, parse_bytes("4k"));
  EXPECT_EQ(uint64_t{64} << 20, parse_bytes("64M"));
  EXPECT_EQ(uint64_t{64} << 20, parse_bytes("64MiB"));
  EXPECT_EQ(uint64_t{3} << 29, parse_bytes("1.5G"));
  EXPECT_EQ(uint64_t{8} << 40, parse_bytes("8TB"));
  EXPECT_EQ(0u, parse_bytes("0"));
}

TEST(Text, WhatIsNoSize) {
  for (const char* text : {"", "M", "12X", "-1", "1MM", "1e30", "nan", "inf", "64 M x"})
    EXPECT_FALSE(parse_bytes(text)) << text;
}

TEST(Text, ShownBytesAreShort) {
  EXPECT_EQ("17 B", show_bytes(17));
  EXPECT_EQ("1.5 KiB", show_bytes(1536));
  EXPECT_EQ("8 TiB", show_bytes(uint64_t{8} << 40));
}

TEST(Text, ListsOfNumbers) {
  EXPECT_EQ(parse_numbers("3,0-2,8"), (std::vector<int>{3, 0, 1, 2, 8}));
  EXPECT_EQ(parse_numbers("65535"), (std::vector<int>{65535}));
  for (const char* text : {"", ",", "1,", "1-", "-1", "2-1", "1--2", " 1", "65536", "99999999999", "1x"})
    EXPECT_FALSE(parse_numbers(text)) << text;
  EXPECT_EQ(show_numbers({8, 2, 0, 1, 4, 5}), "0-2,4-5,8");
  EXPECT_EQ(show_numbers({}), "");
}

TEST(Text, WhatControlsATerminalIsNotPrinted) {
  EXPECT_EQ("plain, ñ, 漢, 😀", printable("plain, ñ, 漢, 😀"));
  EXPECT_EQ("?]0;x??[2J", printable("\033]0;x\007\033[2J"));
  EXPECT_EQ("a?b?c?", printable("a\nb\rc\177"));
  EXPECT_EQ("??31m", printable("\302\23331m"));  // CSI as UTF-8
  EXPECT_EQ("?31m ??", printable("\23331m \377\303"));
  EXPECT_EQ("", printable(""));
}

TEST(Text, TheNearestWord) {
  const std::string_view known[] = {"cache", "chaos", "timeout"};
  EXPECT_EQ("cache", nearest("cahe", known));
  EXPECT_EQ("timeout", nearest("time-out", known));
  EXPECT_EQ("", nearest("xyzzy", known));
}

}  // namespace
}  // namespace hiroba
