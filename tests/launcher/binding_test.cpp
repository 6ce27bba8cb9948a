// Where ranks are bound on machines of 1, 2, 4 and 8 NUMA domains that hwloc describes, by words and by a file.
#include "launcher/binding.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <fstream>
#include <set>

namespace hiroba {
namespace {

// The cores of a machine in hwloc's words; of this one, without.
std::vector<Core> cores_of(const char* synthetic) {
  if (synthetic != nullptr) setenv("HWLOC_SYNTHETIC", synthetic, 1);
  Machine machine;
  EXPECT_TRUE(machine.load().ok());
  EXPECT_EQ(machine.is_described(), synthetic != nullptr);
  unsetenv("HWLOC_SYNTHETIC");
  return machine.core_list();
}

Binding binding(const char* text) {
  Binding out;
  const Status parsed = Binding::parse(text, out);
  EXPECT_TRUE(parsed.ok()) << parsed.message();
  return out;
}

std::vector<RankPlaces> bound(const std::vector<Core>& machine, const char* how, int ranks, int threads = 1) {
  std::vector<RankPlaces> out;
  const Status status = bind_ranks(machine, binding(how), ranks, threads, out);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out.size(), static_cast<size_t>(ranks));
  return out;
}

std::string refused(const std::vector<Core>& machine, const char* how, int ranks) {
  std::vector<RankPlaces> out;
  return bind_ranks(machine, binding(how), ranks, 1, out).message();
}

std::vector<Cpus> cpus(const std::vector<RankPlaces>& ranks) {
  std::vector<Cpus> out;
  for (const RankPlaces& rank : ranks) out.push_back(rank.cpus());
  return out;
}

const char* const machines[] = {"Package:1 NUMANode:1 Core:4 PU:1", "Package:2 NUMANode:1 Core:4 PU:2",
                                "Package:2 NUMANode:2 Core:3 PU:1", "Package:4 NUMANode:2 Core:4 PU:2"};

TEST(Binding, WordsAndLists) {
  EXPECT_EQ(binding("none").kind, Binding::Kind::none);
  EXPECT_EQ(binding("socket").kind, Binding::Kind::socket);
  EXPECT_EQ(binding("3,0-2,8").cpus, (Cpus{3, 0, 1, 2, 8}));
  Binding out;
  for (const char* const bad : {"", "x", "cores", "1-", "-1", "3-1", "1,,2", "1, 2", "0-70000", "1.5"})
    EXPECT_NE(Binding::parse(bad, out).message().find("none|core|numa|socket"), std::string::npos) << bad;
}

TEST(Binding, CoresAreSharedOutOnceAndEvenly) {
  for (const char* const text : machines) {
    const std::vector<Core> machine = cores_of(text);
    const auto domains = static_cast<int>(std::set<int>([&] {
                                            std::set<int> all;
                                            for (const Core& core : machine) all.insert(core.domain);
                                            return all;
                                          }())
                                              .size());
    for (int ranks = 1; ranks <= static_cast<int>(machine.size()); ++ranks) {
      std::set<int> given;
      for (const RankPlaces& rank : bound(machine, "core", ranks)) {
        EXPECT_FALSE(rank.cpus().empty());
        std::set<int> in;
        for (const int cpu : rank.cpus()) {
          EXPECT_TRUE(given.insert(cpu).second) << "CPU " << cpu << " twice";
          for (const Core& core : machine)
            if (std::count(core.cpus.begin(), core.cpus.end(), cpu) != 0) in.insert(core.domain);
        }
        EXPECT_TRUE(in.size() == 1 || ranks < domains) << text << ", " << ranks << " ranks";
      }
      EXPECT_EQ(given.size(), machine.size() * machine[0].cpus.size()) << text << ", " << ranks << " ranks";
    }
  }
}

TEST(Binding, NoShareOfCoresLeavesItsDomain) {
  const std::vector<Core> machine = cores_of("NUMANode:2 Core:4 PU:1");
  EXPECT_EQ(cpus(bound(machine, "core", 3)), (std::vector<Cpus>{{0, 1}, {2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(cpus(bound(machine, "core", 1)), (std::vector<Cpus>{{0, 1, 2, 3, 4, 5, 6, 7}}));
}

TEST(Binding, ARankHasAsManyPlacesAsThreads) {
  const std::vector<Core> machine = cores_of("NUMANode:2 Core:4 PU:2");
  const auto two = bound(machine, "core", 2, 2);
  EXPECT_EQ(two[1].places, (std::vector<Cpus>{{8, 9, 10, 11}, {12, 13, 14, 15}}));
  EXPECT_EQ(bound(machine, "core", 2, 1)[0].places.size(), 1U);
  EXPECT_EQ(bound(machine, "core", 2, 9)[0].places.size(), 4U);
  EXPECT_EQ(bound(machine, "numa", 2, 4)[1].places, (std::vector<Cpus>{{8, 9, 10, 11, 12, 13, 14, 15}}));
}

TEST(Binding, DomainsAndSocketsInTurn) {
  const std::vector<Core> machine = cores_of("Package:2 NUMANode:2 Core:2 PU:1");
  EXPECT_EQ(cpus(bound(machine, "numa", 6)), (std::vector<Cpus>{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 1}, {2, 3}}));
  EXPECT_EQ(cpus(bound(machine, "socket", 3)), (std::vector<Cpus>{{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 2, 3}}));
  EXPECT_EQ(cpus(bound(cores_of(machines[3]), "numa", 9))[8], cpus(bound(cores_of(machines[3]), "numa", 1))[0]);
  EXPECT_EQ(cpus(bound(machine, "none", 2)), (std::vector<Cpus>{{}, {}}));
}

TEST(Binding, AListIsSharedOutInItsOrder) {
  const std::vector<Core> machine = cores_of("NUMANode:2 Core:2 PU:2");
  EXPECT_EQ(cpus(bound(machine, "7,0,5,2", 2)), (std::vector<Cpus>{{7, 0}, {5, 2}}));
  EXPECT_EQ(bound(machine, "4-7", 1, 4)[0].places, (std::vector<Cpus>{{4}, {5}, {6}, {7}}));
}

TEST(Binding, WhatCannotBeIsSaid) {
  const std::vector<Core> machine = cores_of("NUMANode:2 Core:2 PU:1");
  EXPECT_EQ(refused(machine, "core", 5),
            "option --bind core: 5 ranks for 4 cores; start at most 4 (-n 4), or give --bind none, with which ranks "
            "share CPUs");
  EXPECT_EQ(refused(machine, "0-1", 3),
            "option --bind 0-1: 3 ranks for 2 CPUs; start at most 2 (-n 2), lengthen the list, or give --bind none, "
            "with which ranks share CPUs");
  EXPECT_EQ(refused(machine, "2-4", 1), "option --bind 2-4: CPU 4 is not one that this job may use; choose from 0-3");
  EXPECT_EQ(refused(machine, "1,1", 1), "option --bind 1,1: CPU 1 is given twice");
}

TEST(Binding, IsDescribedAsByMpirun) {
  const std::vector<Core> machine = cores_of("Package:2 NUMANode:1 Core:2 PU:2");
  EXPECT_EQ(describe_binding(machine, 1, bound(machine, "core", 4)[1]),
            "rank 1 bound to socket 0[core 1[hwt 0-1]], NUMA domain 0: [../BB][../..]");
  EXPECT_EQ(describe_binding(machine, 0, bound(machine, "1,4-6", 1)[0]),
            "rank 0 bound to socket 0[core 0[hwt 1]], socket 1[core 2[hwt 0-1]], socket 1[core 3[hwt 0]], NUMA domain "
            "0,1: [.B/..][BB/B.]");
  EXPECT_EQ(describe_binding(machine, 3, {}), "rank 3 is not bound");
}

// A machine of two domains of which one has no CPUs, as memory on a bus has none, in hwloc's file format.
TEST(Binding, AMachineFromAFile) {
  hwloc_topology_t topology = nullptr;
  hwloc_topology_init(&topology);
  ASSERT_EQ(hwloc_topology_set_synthetic(topology, "Package:2 [NUMANode(memory=1GB)] Core:2 PU:1"), 0);
  hwloc_topology_load(topology);
  const hwloc_bitmap_t first = hwloc_bitmap_alloc();
  hwloc_bitmap_set_range(first, 0, 1);
  hwloc_topology_restrict(topology, first, 0);  // the CPUs of the second domain go, it stays
  hwloc_bitmap_free(first);
  const std::string file = testing::TempDir() + "binding_test.xml";
  ASSERT_EQ(hwloc_topology_export_xml(topology, file.c_str(), 0), 0);
  EXPECT_EQ(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE), 2);
  hwloc_topology_destroy(topology);
  setenv("HWLOC_XMLFILE", file.c_str(), 1);
  Machine machine;
  ASSERT_TRUE(machine.load().ok());
  unsetenv("HWLOC_XMLFILE");
  std::remove(file.c_str());
  EXPECT_TRUE(machine.is_described());
  EXPECT_EQ(machine.numa_nodes(), 2);
  EXPECT_EQ(cpus(bound(machine.core_list(), "numa", 2)), (std::vector<Cpus>{{0, 1}, {0, 1}}));
}

TEST(Binding, ThisProcessCanBeBound) {
  const std::vector<Core> machine = cores_of(nullptr);
  const auto ranks = bound(machine, "core", static_cast<int>(machine.size()));
  ASSERT_TRUE(bind_process(ranks.back().cpus()).ok());
  cpu_set_t now;
  ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
  EXPECT_EQ(CPU_COUNT(&now), static_cast<int>(ranks.back().cpus().size()));
  EXPECT_TRUE(CPU_ISSET(ranks.back().cpus()[0], &now));
  EXPECT_NE(bind_process({4095}).message().find("cannot bind to CPUs 4095"), std::string::npos);
}

TEST(Binding, OpenMpPlacesFollowUnlessTheUserHasSome) {
  for (const char* const name : {"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"}) unsetenv(name);
  use_places({{{0, 1}, {4}}});
  EXPECT_STREQ(std::getenv("OMP_PLACES"), "{0,1},{4}");
  EXPECT_STREQ(std::getenv("OMP_PROC_BIND"), "close");
  EXPECT_STREQ(std::getenv("HIROBA_CPUS"), "0-1,4");
  unsetenv("OMP_PLACES"), setenv("OMP_PROC_BIND", "false", 1);
  use_places({{{2}}});
  EXPECT_EQ(std::getenv("OMP_PLACES"), nullptr);
  EXPECT_STREQ(std::getenv("OMP_PROC_BIND"), "false");
  EXPECT_STREQ(std::getenv("HIROBA_CPUS"), "2");
}

}  // namespace
}  // namespace hiroba
