// Counters of energy on a tree of files that stands for the kernel's.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/energy/counters.hpp"

namespace hiroba {
namespace {

constexpr uint64_t range = 262143328850;

class Energy : public testing::Test {
 protected:
  Energy() {
    char name[] = "/tmp/hiroba_energy_XXXXXX";
    root = mkdtemp(name);
    std::filesystem::permissions(root, std::filesystem::perms(0755));
  }
  ~Energy() override { std::filesystem::remove_all(root); }
  std::string zone(const std::string& folder, const std::string& name, const std::string& energy = "5") const {
    const std::string path = root + '/' + "class/powercap/" + folder;
    std::filesystem::create_directories(path);
    std::ofstream(path + "/name") << name << '\n';
    std::ofstream(path + "/energy_uj") << energy << '\n';
    std::ofstream(path + "/max_energy_range_uj") << range << '\n';
    return path;
  }
  std::vector<EnergyCounter> counters() const {
    std::vector<EnergyCounter> found;
    EXPECT_TRUE(powercap_counters(root, found).ok());
    return found;
  }
  std::string root;
};

TEST_F(Energy, PackagesAndTheirPartsOnce) {
  zone("intel-rapl:0", "package-0");
  zone("intel-rapl:0:0", "dram");
  zone("intel-rapl-mmio:0", "package-0");
  const auto found = counters();
  ASSERT_EQ(2u, found.size());
  EXPECT_EQ("package-0", found[0].name);
  EXPECT_EQ("package-0/dram", found[1].name);
  EXPECT_EQ(range, found[0].range);
}

TEST_F(Energy, ThereIsNone) {
  std::vector<EnergyCounter> found;
  EXPECT_NE(std::string::npos, powercap_counters(root, found).message().find("virtual machine"));
  std::filesystem::create_directories(root + '/' + "class/powercap");
  EXPECT_NE(std::string::npos, powercap_counters(root, found).message().find("intel_rapl_msr"));
}

TEST_F(Energy, WhatCannotBeReadSaysWhy) {
  std::filesystem::remove(zone("intel-rapl:0", "package-0") + "/energy_uj");
  zone("intel-rapl:1", "package-1", "soon");
  const auto found = counters();
  EXPECT_NE(std::string::npos, found[0].why_not.find("No such file"));
  EXPECT_NE(std::string::npos, found[1].why_not.find("'soon', which is no number"));
}

TEST_F(Energy, WithoutPermission) {
  std::filesystem::permissions(zone("intel-rapl:0", "package-0") + "/energy_uj", std::filesystem::perms(0));
  const bool is_root = geteuid() == 0;  // root may read everything
  if (is_root && seteuid(65534) != 0) GTEST_SKIP() << "root cannot become another user here";
  const auto found = counters();
  if (is_root) {
    ASSERT_EQ(0, seteuid(0));
  }
  EXPECT_NE(std::string::npos, found[0].why_not.find("no permission"));
}

TEST_F(Energy, SumOverWrapAroundsAndSlowUpdates) {
  EnergySum sum(EnergyCounter{"package-0", "", range, ""});
  uint64_t energy = range - 1'000'000;
  double truth = 0;
  // 150 W for an hour, in updates every 0.7 s, read every 0.5 s.
  for (int i = 0; i < 7200; ++i) {
    truth = static_cast<int>(i * 0.5 / 0.7) * 0.7 * 150;
    ASSERT_TRUE(sum.add((energy + static_cast<uint64_t>(truth * 1e6)) % (range + 1), i * 0.5).ok());
  }
  EXPECT_GT(truth * 1e6, 2.0 * range);  // it wrapped around more than once
  EXPECT_NEAR(truth, sum.joules(), truth * 1e-3);
  EXPECT_NEAR(150, sum.watts(), 0.15);
  EXPECT_NEAR(0.7, sum.period(), 0.01);
}

TEST_F(Energy, AWrapAroundAfterManyReadingsWithoutAChange) {
  EnergySum sum(EnergyCounter{"package-0", "", range, ""});
  for (int i = 0; i < 4000; ++i) ASSERT_TRUE(sum.add(range - 1'000'000, i * 0.001).ok());
  ASSERT_TRUE(sum.add(4'000'000'000, 4).ok());
  EXPECT_NEAR(4001, sum.joules(), 0.01);
}

TEST_F(Energy, BackwardsIsNoWrapAround) {
  EnergySum sum(EnergyCounter{"package-0", "", range, ""});
  ASSERT_TRUE(sum.add(5'000'000, 0).ok());
  EXPECT_NE(std::string::npos, sum.add(4'000'000, 1).message().find("went backwards"));
  EnergySum late(EnergyCounter{"package-0", "", range, ""});
  ASSERT_TRUE(late.add(5, 0).ok());
  EXPECT_NE(std::string::npos, late.add(6, 200).message().find("more than once"));
}

TEST_F(Energy, ACounterThatStandsStillHasNoWatts) {
  zone("intel-rapl:0", "package-0");
  std::string text;
  ASSERT_TRUE(describe_power(root, 0.01, text).ok());
  EXPECT_NE(std::string::npos, text.find("no watts")) << text;
  EXPECT_EQ(std::string::npos, text.find(" W (")) << text;
}

}  // namespace
}  // namespace hiroba
