#include "base/debug/symbols.hpp"

#include <gtest/gtest.h>

#include <string>

// A name that is also the mangled one of a type, unsigned char.
extern "C" [[gnu::noinline]] int h(int value) {
  asm volatile("" : "+r"(value));
  return value + 1;
}

namespace hiroba {
namespace {

TEST(Symbols, AFunctionOfCWithTheNameOfAMangledTypeKeepsIt) {
  EXPECT_EQ(h(1), 2);
  const std::string place = source_location(reinterpret_cast<const char*>(&h) + 1);
  EXPECT_EQ(place.substr(0, place.find(' ')), "h") << place;
}

}  // namespace
}  // namespace hiroba
