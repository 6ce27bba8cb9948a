// The arithmetic of sections, against sets of bytes.
#include "section/section.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <random>
#include <vector>

#include "section/walk.hpp"

namespace hiroba {
namespace {

using Small = SectionOf<3>;

constexpr size_t room = 8192;
char memory[room];

using Bytes = std::bitset<room>;

Bytes bytes_of(const Small& s) {
  Bytes out;
  if (s.empty()) return out;
  for_each_block(s, [&](const char* block, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) out.set(static_cast<size_t>(block - memory) + i);
  });
  return out;
}

bool share(const Small& a, const Small& b) { return (bytes_of(a) & bytes_of(b)).any(); }

bool contains(const Small& outer, const Small& inner) { return (bytes_of(inner) & ~bytes_of(outer)).none(); }

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(n)); }

 private:
  std::mt19937_64 engine_;
};

// An array of up to four dimensions, and boxes in it.
struct Array {
  explicit Array(Random& random) : dims(1 + static_cast<int>(random.below(4))) {
    int64_t stride = element = 1 + random.below(8);
    for (int d = dims - 1; d >= 0; --d) {
      length[d] = 1 + random.below(5), stride_of[d] = stride;
      stride *= length[d];
    }
  }
  Small box(Random& random) const {
    Small out(memory, 0);
    out.dims = dims - 1;
    for (int d = 0; d < dims; ++d) {
      const int64_t low = random.below(length[d]), n = 1 + random.below(length[d] - low);
      out.address += low * stride_of[d];
      if (d == dims - 1) out.bytes = static_cast<size_t>(n * element);
      else out.count[static_cast<size_t>(d)] = n, out.stride[static_cast<size_t>(d)] = stride_of[d];
    }
    return out;
  }
  int dims;
  int64_t element, length[4], stride_of[4];
};

// A section of anything.
Small anything(Random& random) {
  Small out(memory + random.below(200), static_cast<size_t>(1 + random.below(20)));
  out.dims = static_cast<int>(random.below(Small::most_dims + 1));
  for (size_t d = 0; d < static_cast<size_t>(out.dims); ++d)
    out.count[d] = 1 + random.below(4), out.stride[d] = 1 + random.below(200);
  std::sort(out.stride.begin(), out.stride.begin() + out.dims, std::greater<>());
  return out;
}

// The same without dimensions of one block: another shape over the same array.
Small without_single_blocks(const Small& s) {
  Small out(s.address, s.bytes);
  for (size_t d = 0; d < static_cast<size_t>(s.dims); ++d)
    if (s.count[d] != 1) {
      const auto at = static_cast<size_t>(out.dims++);
      out.count[at] = s.count[d], out.stride[at] = s.stride[d];
    }
  return out;
}

testing::Message show(const Small& s) {
  testing::Message out;
  out << "{at " << s.address - memory << ", " << s.bytes << " bytes";
  for (size_t d = 0; d < static_cast<size_t>(s.dims); ++d) out << ", " << s.count[d] << " x " << s.stride[d];
  return out << "}";
}

TEST(Section, BoxesOfOneArrayOverlapIfTheyShareAByte) {
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    Random random(seed);
    const Array array(random);
    const Small a = array.box(random), b = array.box(random), c = without_single_blocks(b);
    const bool shared = share(a, b);
    ASSERT_EQ(shared, overlap(a, b)) << "seed " << seed << show(a) << show(b);
    ASSERT_EQ(shared, overlap(b, a)) << "seed " << seed << show(a) << show(b);
    ASSERT_EQ(shared, overlap(a, c)) << "seed " << seed << show(a) << show(c);
    ASSERT_EQ(shared, overlap(c, a)) << "seed " << seed << show(a) << show(c);
  }
}

// Sections that have nothing to do with each other may be said to overlap, but none that do are said not to.
TEST(Section, NoSharedByteIsOverlooked) {
  for (uint64_t seed = 0; seed < 40000; ++seed) {
    Random random(seed);
    const Array array(random);
    const Small a = anything(random), b = random.below(2) == 0 ? anything(random) : array.box(random);
    for (const Small& other : {b, simplified(b)}) {
      const bool either = overlap(a, other) || overlap(other, a), both = overlap(a, other) && overlap(other, a);
      ASSERT_TRUE(both || !share(a, other)) << "seed " << seed << show(a) << show(other);
      ASSERT_TRUE(!either || a.end() > other.address) << "seed " << seed << show(a) << show(other);
    }
  }
}

// The same blocks with some strides turned around, and two dimensions exchanged.
Small turned(Small s, Random& random) {
  for (size_t d = 0; d < static_cast<size_t>(s.dims); ++d)
    if (random.below(2) == 0) s.address += (s.count[d] - 1) * s.stride[d], s.stride[d] = -s.stride[d];
  if (s.dims > 1) std::swap(s.count[0], s.count[1]), std::swap(s.stride[0], s.stride[1]);
  return s;
}

TEST(Section, OrderOfBlocksDoesNotMatterForOverlap) {
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    const Array array(random);
    const Small a = array.box(random), b = array.box(random), x = turned(a, random), y = turned(b, random);
    const bool shared = share(a, b);
    ASSERT_EQ(shared, overlap(x, y)) << "seed " << seed << show(x) << show(y);
    const char* const byte = common_byte(x, y);
    ASSERT_EQ(shared, byte != nullptr) << "seed " << seed << show(x) << show(y);
    if (!shared) continue;
    const Small one(byte, 1);
    ASSERT_TRUE(contains(a, one) && contains(b, one)) << "seed " << seed << show(x) << show(y);
  }
}

TEST(Section, PackedAndUnpackedIsTheSame) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Array array(random);
    const Small section = array.box(random);
    for (char& c : memory) c = static_cast<char>(random.below(256));
    const std::vector<char> before(memory, memory + room);
    std::vector<char> packed(section.total());
    pack(packed.data(), section);
    fill(section, std::vector<char>(section.bytes, 7).data());
    unpack(section, packed.data());
    ASSERT_EQ(before, std::vector<char>(memory, memory + room)) << "seed " << seed << show(section);
  }
}

TEST(Section, WhatCoversHasAllBytes) {
  int covered = 0;
  for (uint64_t seed = 0; seed < 40000; ++seed) {
    Random random(seed);
    const Array array(random);
    const Small a = array.box(random), b = array.box(random), other = anything(random);
    ASSERT_EQ(contains(a, b), covers(a, b)) << "seed " << seed << show(a) << show(b);
    if (covers(a, b)) ++covered;
    ASSERT_TRUE(!covers(a, other) || contains(a, other)) << "seed " << seed << show(a) << show(other);
    ASSERT_TRUE(!covers(other, a) || contains(other, a)) << "seed " << seed << show(other) << show(a);
  }
  EXPECT_GT(covered, 1000);
}

TEST(Section, SimplifiedIsTheSameBytesInTheSameOrder) {
  const auto order_of = [](const Small& s) {
    std::vector<const char*> out;
    for_each_block(s, [&](const char* block, size_t bytes) {
      for (size_t i = 0; i < bytes; ++i) out.push_back(block + i);
    });
    return out;
  };
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    Random random(seed);
    const Array array(random);
    const Small section = array.box(random), simple = simplified(section);
    ASSERT_EQ(order_of(section), order_of(simple)) << "seed " << seed << show(section) << show(simple);
    ASSERT_LE(simple.dims, section.dims);
    ASSERT_EQ(section.total(), simple.total());
    ASSERT_EQ(section.end(), simple.end());
    ASSERT_EQ(simple, simplified(simple));
  }
  Small whole(memory, 8);
  whole.dims = 3;
  whole.count = {2, 3, 4}, whole.stride = {96, 32, 8};
  EXPECT_EQ(Small(memory, 192), simplified(whole));
}

TEST(Section, EndAndTotalAreThoseOfTheBytes) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Array array(random);
    const Small section = array.box(random);
    const Bytes bytes = bytes_of(section);
    ASSERT_EQ(bytes.count(), section.total());
    ASSERT_TRUE(bytes[static_cast<size_t>(section.end() - memory) - 1]);
    ASSERT_TRUE((bytes >> static_cast<size_t>(section.end() - memory)).none());
  }
}

TEST(Section, NothingIsEmpty) {
  Small section(memory, 0);
  EXPECT_TRUE(section.empty());
  section.bytes = 8;
  EXPECT_FALSE(section.empty());
  section.dims = 2, section.count = {3, 0, -1}, section.stride = {64, 8, 8};
  EXPECT_TRUE(section.empty());
  section.count[1] = 1;
  EXPECT_FALSE(section.empty());  // the third does not count
}

}  // namespace
}  // namespace hiroba
