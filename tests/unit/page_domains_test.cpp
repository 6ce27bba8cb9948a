// Where pages are placed, moved and found on machines of several NUMA domains, which a stand-in for the kernel plays;
// and the real calls on this one.
#include "memory/numa/page_domains.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "base/addresses.hpp"
#include "base/machine/numa.hpp"
#include "memory/numa/affinity.hpp"
#include "numa_machine.hpp"

namespace hiroba {
namespace {

using Policy = NumaCalls::Policy;
using Kind = MemoryPlace::Kind;
using Placed = NumaMachine::Placed;

PageDomains on(NumaMachine& machine, bool huge = false) {
  PageDomains out;
  out.start({&machine, machine.domains, machine.fd, machine.base, huge});
  return out;
}

void use(const NumaMachine& machine, uint64_t first, uint64_t pages) {
  std::memset(machine.base + (first << page_shift), 1, pages << page_shift);
}

TEST(MemoryPlace, Words) {
  MemoryPlace place;
  EXPECT_TRUE(MemoryPlace::parse("interleave", place).ok());
  EXPECT_EQ(place.kind, Kind::interleave);
  EXPECT_TRUE(MemoryPlace::parse("domain:12", place).ok());
  EXPECT_EQ(place.kind, Kind::domain);
  EXPECT_EQ(place.domain, 12);
  for (const char* const bad : {"", "domain", "domain:", "domain:-1", "domain:1x", "near"})
    EXPECT_NE(MemoryPlace::parse(bad, place).message().find("domain:1"), std::string::npos) << bad;
}

TEST(PageDomains, NewPagesComeFromThePlace) {
  NumaMachine machine({0, 1, 2, 3}, 64);
  const PageDomains pages = on(machine);
  EXPECT_TRUE(pages.set_place(8 * page_bytes, 16 * page_bytes, {Kind::owner, 0}, 2).ok());
  EXPECT_TRUE(pages.set_place(0, page_bytes, {Kind::owner, 0}, -1).ok());
  EXPECT_TRUE(pages.set_place(0, page_bytes, {Kind::touch, 0}, 2).ok());
  EXPECT_TRUE(pages.set_place(0, page_bytes, {Kind::domain, 3}, 2).ok());
  EXPECT_TRUE(pages.set_place(0, 64 * page_bytes, {Kind::interleave, 0}, 2).ok());
  EXPECT_EQ(machine.placed, (std::vector<Placed>{{8 * page_bytes, 16 * page_bytes, Policy::preferred, {2}},
                                                 {0, page_bytes, Policy::standard, {}},
                                                 {0, page_bytes, Policy::standard, {}},
                                                 {0, page_bytes, Policy::preferred, {3}},
                                                 {0, 64 * page_bytes, Policy::interleave, {0, 1, 2, 3}}}));
}

// Where memory becomes huge pages, which lie on one domain each.
TEST(PageDomains, LargeArraysAreInterleavedByHugePages) {
  constexpr uint64_t unit = huge_page_bytes;
  for (const auto& domains : {std::vector<int>{0}, {0, 1}, {0, 2, 5, 7}, {0, 1, 2, 3, 4, 5, 6, 7}}) {
    const size_t n = domains.size();
    NumaMachine machine(domains, 20 * unit / page_bytes);
    const PageDomains pages = on(machine, true);
    const uint64_t begin = page_bytes, end = (2 * n + 1) * unit;
    EXPECT_TRUE(pages.set_place(begin, end - begin, {Kind::interleave, 0}, 0).ok());
    ASSERT_EQ(machine.placed.size(), 2 * n + 1);
    uint64_t at = begin;
    for (size_t i = 0; i < machine.placed.size(); ++i) {
      EXPECT_EQ(machine.placed[i].offset, at);
      EXPECT_EQ(machine.placed[i].domains, std::vector<int>{domains[i % n]});
      at += machine.placed[i].bytes;
      EXPECT_EQ(at % unit, 0U);
    }
    EXPECT_EQ(at, end);
    machine.placed.clear();
    EXPECT_TRUE(pages.set_place(0, unit, {Kind::interleave, 0}, 0).ok());
    EXPECT_EQ(machine.placed, (std::vector<Placed>{{0, unit, Policy::interleave, domains}}));
  }
}

TEST(PageDomains, MovesWhatIsInUseAndElsewhere) {
  NumaMachine machine({0, 1}, 1000);
  const PageDomains pages = on(machine);
  use(machine, 10, 300), use(machine, 400, 5);
  machine.where[20] = 1;
  const MovedPages moved = pages.move(0, 1000, 1);
  EXPECT_EQ(moved.pages, 304U);
  EXPECT_EQ(moved.refused, 0U);
  for (uint64_t p = 0; p < 1000; ++p)
    EXPECT_EQ(machine.where[p], (p >= 10 && p < 310) || (p >= 400 && p < 405) ? 1 : 0) << p;
  EXPECT_EQ(pages.move(0, 1000, 1).pages, 0U);
  EXPECT_EQ(machine.base[10 << page_shift], 1);
}

TEST(PageDomains, BusyPagesAreTriedAgain) {
  NumaMachine machine({0, 1}, 16);
  const PageDomains pages = on(machine);
  use(machine, 0, 16);
  machine.refusals[3] = 2, machine.refusals[9] = 100;
  const MovedPages moved = pages.move(0, 16, 1);
  EXPECT_EQ(moved.pages, 15U);
  EXPECT_EQ(moved.refused, 1U);
  EXPECT_EQ(moved.error, EBUSY);
  EXPECT_EQ(machine.where[3], 1);
  EXPECT_EQ(machine.where[9], 0);
}

TEST(PageDomains, ARefusalOfTheKernelIsSaid) {
  NumaMachine machine({0, 1}, 8);
  const PageDomains pages = on(machine);
  use(machine, 0, 8);
  machine.error = EPERM;
  EXPECT_EQ(pages.move(0, 8, 1).error, EPERM);
  EXPECT_EQ(pages.move(0, 8, 1).refused, 8U);
  const Status placed = pages.set_place(0, page_bytes, {Kind::domain, 1}, 0);
  EXPECT_NE(placed.message().find("NUMA domain 1 (mbind: Operation not permitted)"), std::string::npos);
  int where[8];
  EXPECT_NE(pages.locate(0, 8, where).message().find("move_pages"), std::string::npos);
}

TEST(PageDomains, SaysWherePagesAre) {
  NumaMachine machine({0, 1}, 300);
  const PageDomains pages = on(machine);
  use(machine, 5, 200);
  machine.where[7] = 1;
  std::vector<int> where(300, 99);
  ASSERT_TRUE(pages.locate(0, 300, where.data()).ok());
  for (uint64_t p = 0; p < 300; ++p) EXPECT_EQ(where[p], p < 5 || p >= 205 ? PageDomains::absent : p == 7 ? 1 : 0) << p;
}

TEST(PageDomains, ATableAndAPicture) {
  std::vector<int> where(512 * 4, 0);
  std::fill(where.begin() + 1024, where.begin() + 1536, 1);
  std::fill(where.begin() + 1536, where.begin() + 1800, PageDomains::absent);
  std::fill(where.begin() + 1800, where.end(), Affinity::elsewhere);
  const std::string text = show_domains(where);
  EXPECT_NE(text.find("  0  on NUMA domain 0         1024 pages, 4 MiB\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  1  on NUMA domain 1          512 pages, 2 MiB\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  .  not in use                264 pages, 1.0 MiB"), std::string::npos) << text;
  EXPECT_NE(text.find("A sign below is 4 pages, where most of them are:\n  0000"), std::string::npos) << text;
  const std::string line(64, '0'), second(64, '1');
  EXPECT_NE(text.find("\n  " + line + "\n  " + line + "\n  " + line + "\n  " + line + "\n  " + second),
            std::string::npos)
      << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '~'), 63);
  EXPECT_EQ(show_domains(std::vector<int>{0}),
            "  0  on NUMA domain 0            1 page, 4 KiB\n  A sign below is 1 page:\n  0\n");
}

// The kernel's own, on the domains of this machine.
TEST(PageDomains, TheRealCalls) {
  NumaMachine file({0}, 1024);  // for its memory file only
  const std::vector<int> domains = numa_domains();
  PageDomains pages;
  pages.start({&NumaCalls::system(), domains, file.fd, file.base, false});
  const int last = domains.back();
  ASSERT_TRUE(pages.set_place(0, 512 * page_bytes, {Kind::domain, last}, 0).ok());
  ASSERT_TRUE(pages.set_place(512 * page_bytes, 256 * page_bytes, {Kind::interleave, 0}, 0).ok());
  ASSERT_TRUE(pages.set_place(768 * page_bytes, 128 * page_bytes, {Kind::owner, 0}, domains[0]).ok());
  ASSERT_TRUE(pages.set_place(896 * page_bytes, 128 * page_bytes, {Kind::touch, 0}, 0).ok());
  use(file, 0, 1000);
  std::vector<int> where(1024);
  ASSERT_TRUE(pages.locate(0, 1024, where.data()).ok());
  for (uint64_t p = 0; p < 1024; ++p) {
    EXPECT_EQ(where[p] == PageDomains::absent, p >= 1000) << p;
    EXPECT_TRUE(p >= 512 || where[p] == last) << p;
    EXPECT_TRUE(p < 768 || p >= 896 || where[p] == domains[0]) << p;
  }
  const auto there = std::count(where.begin(), where.begin() + 1000, last);
  EXPECT_EQ(pages.move(0, 1024, last).pages, static_cast<uint64_t>(1000 - there));
  pages.unmap(0, 512);
  EXPECT_EQ(file.base[5], 1);
  EXPECT_NE(pages.set_place(0, page_bytes, {Kind::domain, 1000}, 0).message(), "");
}

}  // namespace
}  // namespace hiroba
