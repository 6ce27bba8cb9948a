// From whom threads steal, on machines that hwloc describes.
#include "task/crew/victims.hpp"

#include <gtest/gtest.h>
#include <hwloc.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>

#include "crew_here.hpp"

namespace hiroba {
namespace {

// A thread on each hardware thread of a machine.
class Described {
 public:
  explicit Described(const char* synthetic) {
    hwloc_topology_init(&topology_);
    EXPECT_EQ(hwloc_topology_set_synthetic(topology_, synthetic), 0);
    EXPECT_EQ(hwloc_topology_load(topology_), 0);
    const int threads = hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_PU);
    for (int i = 0; i < threads; ++i)
      domains.push_back(hwloc_bitmap_first(hwloc_get_obj_by_type(topology_, HWLOC_OBJ_PU, index(i))->nodeset));
    distances.domains = hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_NUMANODE);
    for (int a = 0; a < distances.domains; ++a)
      for (int b = 0; b < distances.domains; ++b) distances.row.push_back(distance(a, b));
  }
  ~Described() { hwloc_topology_destroy(topology_); }
  Described(const Described&) = delete;
  std::vector<int> victims(int thread) const { return victims_of(thread, domains, distances); }

  std::vector<int> domains;
  NumaDistances distances;

 private:
  static unsigned index(int i) { return static_cast<unsigned>(i); }
  // The more, the larger the part of the machine that has both.
  int distance(int a, int b) const {
    const hwloc_obj_t both =
        hwloc_get_common_ancestor_obj(topology_, hwloc_get_obj_by_type(topology_, HWLOC_OBJ_NUMANODE, index(a))->parent,
                                      hwloc_get_obj_by_type(topology_, HWLOC_OBJ_NUMANODE, index(b))->parent);
    return a == b ? NumaDistances::own : 40 - 10 * both->depth;
  }
  hwloc_topology_t topology_ = nullptr;
};

using Order = std::vector<int>;

TEST(Victims, OneDomainIsARing) {
  const Described machine("Core:4 PU:1");
  EXPECT_EQ(machine.distances.domains, 1);
  EXPECT_EQ(machine.victims(0), (Order{1, 2, 3}));
  EXPECT_EQ(machine.victims(2), (Order{3, 0, 1}));
}

TEST(Victims, OwnDomainComesFirst) {
  const Described machine("NUMANode:2 Core:4 PU:1");
  EXPECT_EQ(machine.victims(0), (Order{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(machine.victims(2), (Order{3, 0, 1, 4, 5, 6, 7}));
  EXPECT_EQ(machine.victims(5), (Order{6, 7, 4, 0, 1, 2, 3}));
}

TEST(Victims, OthersComeByDistance) {
  const Described machine("Package:2 NUMANode:2 Core:2 PU:1");
  EXPECT_EQ(machine.domains, (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(machine.victims(1), (Order{0, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(machine.victims(4), (Order{5, 6, 7, 0, 1, 2, 3}));
  EXPECT_EQ(machine.victims(7), (Order{6, 4, 5, 0, 1, 2, 3}));
}

TEST(Victims, EachOtherThreadOnce) {
  const Described machine("Package:2 NUMANode:3 Core:2 PU:2");
  for (int t = 0; t < 24; ++t) {
    const Order order = machine.victims(t);
    std::set<int> all(order.begin(), order.end());
    EXPECT_EQ(order.size(), 23U);
    EXPECT_EQ(all.size(), 23U);
    EXPECT_EQ(all.count(t), 0U);
  }
}

TEST(Victims, AThreadOfUnknownDomainComesLast) {
  const Described machine("NUMANode:2 Core:2 PU:1");
  EXPECT_EQ(victims_of(0, std::vector<int>{0, -1, 1, 0}, machine.distances), (Order{3, 2, 1}));
  EXPECT_EQ(victims_of(1, std::vector<int>{0, -1, 1, -1}, machine.distances), (Order{3, 2, 0}));
}

TEST(Victims, OrderFollowsThreadsThatMove) {
  static thread_local int here = 0;
  const Described machine("NUMANode:2 Core:2 PU:1");
  Domains domains(4, machine.distances, [] { return here; });
  for (int t = 0; t < 4; ++t) here = t / 2, domains.note(t);
  EXPECT_EQ(domains.victims(0), (Order{1, 2, 3}));
  const uint32_t moves = domains.moves();
  domains.note(3);
  EXPECT_EQ(domains.moves(), moves);
  here = 0, domains.note(3);
  EXPECT_NE(domains.moves(), moves);
  EXPECT_EQ(domains.victims(0), (Order{1, 3, 2}));
}

// All tasks of a crew with domains run, by more than one thread.
TEST(Victims, ACrewStealsByThem) {
  const Described machine("NUMANode:2 Core:2 PU:1");
  Domains domains(4, machine.distances, [] { return Crew::here()->index() / 2; });
  CrewHere here(4, 8192, 20, nullptr, &domains);
  std::atomic<int> ran{0}, elsewhere{0};
  const uint32_t all_noted = domains.moves() + 3;  // but the first, which notes where it is at the start
  for (int round = 0; round < 5000 && (elsewhere == 0 || domains.moves() < all_noted); ++round) {
    ran = 0;
    for (int i = 0; i < 1000; ++i)
      here.submit(here.create([&] { ++ran, elsewhere += Crew::here()->index() != 0 ? 1 : 0; }));
    here.wait();
    EXPECT_EQ(ran, 1000);
  }
  EXPECT_GT(elsewhere, 0);
  EXPECT_EQ(domains.victims(0), (Order{1, 2, 3}));
}

TEST(NumaDistances, AreWhatTheKernelSays) {
  const std::filesystem::path folder = testing::TempDir() + "numa_distances";
  const auto write = [&](const char* name, const char* text) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text << '\n';
  };
  write("online", "0-1,3");
  write("node0/distance", "10 12 32");
  write("node1/distance", "12 10 31");
  write("node3/distance", "32 31 10");
  const NumaDistances three = NumaDistances::load(folder);
  EXPECT_EQ(three.domains, 4);
  EXPECT_EQ(three.between(0, 1), 12);
  EXPECT_EQ(three.between(3, 1), 31);
  EXPECT_EQ(three.between(3, 3), NumaDistances::own);
  EXPECT_EQ(three.between(0, 2), NumaDistances::unknown);
  EXPECT_EQ(three.between(0, -1), NumaDistances::unknown);
  write("node0/cpulist", "0-3");
  write("node1/cpulist", "4-5,8");
  write("node3/cpulist", "");
  EXPECT_EQ(numa_domains(folder), (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(cpus_of_domain(1, folder), (std::vector<int>{4, 5, 8}));
  EXPECT_EQ(numa_domain_of({5, 8}, folder), 1);
  EXPECT_EQ(numa_domain_of({3, 4}, folder), -1);
  EXPECT_EQ(numa_domain_of({}, folder), -1);
  write("online", "0");
  EXPECT_EQ(NumaDistances::load(folder).domains, 1);
  EXPECT_EQ(numa_domain_of({3, 4}, folder), 0);
  std::filesystem::remove_all(folder);
  EXPECT_EQ(NumaDistances::load(folder).domains, 1);
}

}  // namespace
}  // namespace hiroba
