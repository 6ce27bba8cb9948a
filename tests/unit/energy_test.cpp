// Counters of energy of the processor, and their sums, on a tree of files that stands for the kernel's.
#include <unistd.h>

#include <cmath>

#include "energy_tree.hpp"

namespace hiroba {
namespace {

class Energy : public EnergyTree {
 protected:
  static bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }
  static EnergySum package_sum() {
    EnergyAbout about;
    about.name = "package-0", about.range = range;
    return EnergySum(about);
  }
};

TEST_F(Energy, PackagesAndTheirPartsOnce) {
  zone("intel-rapl:0", "package-0");
  zone("intel-rapl:0:0", "dram");
  zone("intel-rapl:0:1", "core");
  zone("intel-rapl-mmio:0", "package-0");
  const auto& found = open();
  ASSERT_EQ(3u, found.size());
  EXPECT_EQ("package-0", found[0].source->about.name);
  EXPECT_EQ("package-0/dram", found[1].source->about.name);
  EXPECT_EQ(range, found[0].source->about.range);
  EXPECT_EQ("package-0, package-0/dram", meter.summands());
}

TEST_F(Energy, ThereIsNone) {
  open();
  EXPECT_TRUE(says(meter.absent()[0], "virtual machine"));
  EXPECT_TRUE(says(meter.joules(300).why_unknown, "not there"));
  std::filesystem::create_directories(root + '/' + "class/powercap");
  open();
  EXPECT_TRUE(says(meter.absent()[0], "intel_rapl_msr"));
}

TEST_F(Energy, WhatCannotBeReadSaysWhy) {
  std::filesystem::remove(root + '/' + zone("intel-rapl:0", "package-0") + "/energy_uj");
  write(zone("intel-rapl:1", "package-1") + "/energy_uj", "soon");
  make_unreadable(zone("intel-rapl:2", "package-2") + "/energy_uj");
  const auto& found = open();
  EXPECT_TRUE(says(found[0].why_not, "No such file"));
  EXPECT_TRUE(says(found[1].why_not, "'soon', which is no number"));
  EXPECT_TRUE(found[2].why_not.starts_with("not readable")) << found[2].why_not;
  EXPECT_TRUE(says(meter.describe(1), "watts unknown"));
}

TEST_F(Energy, WithoutPermission) {
  std::filesystem::permissions(root + '/' + zone("intel-rapl:0", "package-0") + "/energy_uj",
                               std::filesystem::perms(0));
  const bool is_root = geteuid() == 0;  // root may read everything
  if (is_root && seteuid(65534) != 0) GTEST_SKIP() << "root cannot become another user here";
  const auto& found = open();
  if (is_root) {
    ASSERT_EQ(0, seteuid(0));
  }
  EXPECT_TRUE(says(found[0].why_not, "no permission"));
  EXPECT_TRUE(says(meter.joules(300).why_unknown, "no permission"));
  EXPECT_FALSE(says(meter.describe(1), " W ("));
}

TEST_F(Energy, SumOverWrapAroundsAndSlowUpdates) {
  EnergySum sum = package_sum();
  uint64_t energy = range - 1'000'000;
  double truth = 0;
  // 150 W for an hour, in updates every 0.7 s, read every 0.5 s.
  for (int i = 0; i < 7200; ++i) {
    truth = static_cast<int>(i * 0.5 / 0.7) * 0.7 * 150;
    ASSERT_TRUE(sum.add((energy + static_cast<uint64_t>(truth * 1e6)) % (range + 1), i * 0.5).ok());
  }
  EXPECT_GT(truth * 1e6, 2.0 * range);  // it wrapped around more than once
  EXPECT_NEAR(truth, sum.joules(3600), truth * 1e-3);
  EXPECT_NEAR(150, sum.watts(), 0.15);
  EXPECT_NEAR(0.7, sum.period(), 0.01);
}

TEST_F(Energy, AWrapAroundAfterManyReadingsWithoutAChange) {
  EnergySum sum = package_sum();
  for (int i = 0; i < 4000; ++i) ASSERT_TRUE(sum.add(range - 1'000'000, i * 0.001).ok());
  ASSERT_TRUE(sum.add(4'000'000'000, 4).ok());
  EXPECT_NEAR(4001, sum.joules(4), 0.01);
}

TEST_F(Energy, BackwardsIsNoWrapAround) {
  EnergySum sum = package_sum();
  ASSERT_TRUE(sum.add(5'000'000, 0).ok());
  EXPECT_TRUE(sum.add(4'000'000, 1).message().starts_with("counter went backwards"));
  EnergySum late = package_sum();
  ASSERT_TRUE(late.add(5, 0).ok());
  EXPECT_TRUE(says(late.add(6, 200).message(), "more than once"));
}

TEST_F(Energy, ACounterThatStandsStillHasNoWatts) {
  zone("intel-rapl:0", "package-0");
  const std::string text = describe_power(places(), 0.01);
  EXPECT_TRUE(says(text, "no watts")) << text;
  EXPECT_TRUE(says(text, "watts unknown")) << text;
  EXPECT_FALSE(says(text, " W (")) << text;
}

// Power that changes: 100 W, with 40 W up and down in 9.1 s. Its integral from 0 on.
double joules_until(double seconds) {
  const double omega = 2 * M_PI / 9.1;
  return 100 * seconds + 40 / omega * (1 - std::cos(omega * seconds));
}

TEST_F(Energy, TheIntegralOfAllSources) {
  const std::string package = zone("intel-rapl:0", "package-0"), memory = zone("intel-rapl:0:0", "dram");
  write("class/hwmon/hwmon0/name", "amdgpu");
  const auto set = [&](double now) {
    const auto energy = static_cast<uint64_t>(joules_until(now) * 1e6);
    write(package + "/energy_uj", std::to_string((range - 3'000'000 + energy) % (range + 1)));
    // Changes once a second.
    write(memory + "/energy_uj", std::to_string(static_cast<uint64_t>(joules_until(std::floor(now)) * 1e6)));
    const double watts = 100 + 40 * std::sin(2 * M_PI / 9.1 * now);
    write("class/hwmon/hwmon0/power1_input", std::to_string(static_cast<uint64_t>(watts * 1e6)));
  };
  set(0);
  open();
  for (int i = 0; i <= 3000; ++i) {
    set(i * 0.1);
    meter.sample(i * 0.1);
  }
  const double truth = joules_until(300);
  EXPECT_NEAR(truth, reader("package-0").sum.joules(300), truth * 1e-3);
  EXPECT_NEAR(truth, reader("package-0/dram").sum.joules(300), truth * 1e-3);
  EXPECT_NEAR(truth, reader("amdgpu hwmon0 power1").sum.joules(300), truth * 1e-3);
  EXPECT_NEAR(3 * truth, meter.joules(300).value, 3 * truth * 1e-3);
  EXPECT_EQ("", meter.joules(300).why_unknown);
}

TEST_F(Energy, PowerThatRises) {
  EnergyAbout about;
  about.integrated = true;
  EnergySum sum(about);
  for (uint64_t i = 0; i <= 10; ++i) ASSERT_TRUE(sum.add(i * 20'000'000, static_cast<double>(i)).ok());
  EXPECT_NEAR(1000, sum.joules(10), 1);
  EXPECT_NEAR(100, sum.watts(), 0.1);
  EXPECT_NEAR(1200, sum.joules(11), 1.2);  // it stays at 200 W
}

TEST_F(Energy, WhatIsMissingInTheSumIsNamed) {
  const std::string package = zone("intel-rapl:0", "package-0");
  zone("intel-rapl:0:0", "dram");
  make_unreadable("class/powercap/intel-rapl:0:0/energy_uj");
  open();
  EXPECT_TRUE(meter.any());
  EXPECT_TRUE(meter.summands().starts_with("package-0; without package-0/dram: not readable")) << meter.summands();
  meter.sample(0);
  EXPECT_EQ("package-0", meter.unchanged());
  write(package + "/energy_uj", "500");
  meter.sample(1);
  EXPECT_EQ("", meter.unchanged());
}

TEST_F(Energy, ADecreasingCounterMakesTheTotalUnknown) {
  const std::string package = zone("intel-rapl:0", "package-0", 9'000'000);
  zone("intel-rapl:0:0", "dram");
  open();
  meter.sample(0);
  write(package + "/energy_uj", "8000000");
  meter.sample(1);
  EXPECT_TRUE(meter.joules(300).why_unknown.starts_with("counter went backwards"));
  EXPECT_TRUE(says(meter.describe(1), "watts unknown: counter went backwards"));
}

TEST_F(Energy, WhatContainsPackagesIsNotAddedToThem) {
  zone("intel-rapl:0", "package-0");
  zone("intel-rapl:1", "psys");
  open();
  EXPECT_EQ("package-0", meter.summands());
  make_unreadable("class/powercap/intel-rapl:0/energy_uj");
  open();
  EXPECT_EQ("psys", meter.summands());
}

}  // namespace
}  // namespace hiroba
