// Shares of energy by what ranks did, and the table of all ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "power/accounts.hpp"
#include "power/table.hpp"

namespace hiroba {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

TEST(PowerAccounts, AChangeBelongsToAllThatHappenedBefore) {
  PowerAccounts accounts;
  accounts.pass("computing", 0.3);
  accounts.pass("waiting in sms_barrier", 0.1);
  accounts.spend(8);
  accounts.pass("computing", 0.5);
  const auto all = accounts.all();
  EXPECT_DOUBLE_EQ(6, all.at("computing").joules);
  EXPECT_DOUBLE_EQ(2, all.at("waiting in sms_barrier").joules);
  EXPECT_DOUBLE_EQ(0.8, all.at("computing").seconds);
}

TEST(PowerAccounts, WhatIsLostStaysUnknown) {
  PowerAccounts accounts;
  accounts.pass("computing", 1);
  accounts.lose();
  accounts.pass("computing", 1);
  accounts.spend(5);
  EXPECT_TRUE(std::isnan(accounts.all().at("computing").joules));
  EXPECT_DOUBLE_EQ(2, accounts.all().at("computing").seconds);
}

TEST(PowerAccounts, RegionsAddUp) {
  PowerAccounts accounts;
  accounts.add("region solve", 1, 10);
  accounts.add("region solve", 2, 30);
  const PowerAccount solve = accounts.all().at("region solve");
  EXPECT_EQ(2, solve.times);
  EXPECT_DOUBLE_EQ(40, solve.joules);
}

PowerReport report(int node, const std::string& machine, double joules) {
  PowerReport out;
  out.node = node, out.measured = true, out.host = "host" + std::to_string(node), out.machine = machine;
  out.summands = "package-0", out.seconds = 2, out.joules = joules, out.period = 0.01, out.cost = 1e-5;
  out.idle_watts = 5;
  out.accounts["computing"] = {2, joules, 0};
  return out;
}

PowerReport sent(const PowerReport& report) {
  const std::string text = report.packed();
  return PowerReport::unpacked({text.data(), text.size()});
}

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

TEST(PowerTable, MachinesAddUpAndNodesOnOneDoNot) {
  const std::string text = power_table({sent(report(0, "a", 30)), sent(report(1, "a", 30)), sent(report(2, "b", 50))});
  EXPECT_TRUE(says(text, "node 0 on host0: 30.000 J in 2.000 s, 15.00 W, energy-delay product 60.000 J s")) << text;
  EXPECT_TRUE(says(text, "20.000 J above 5.00 W when idle")) << text;
  EXPECT_TRUE(says(text, "node 1 is on the machine of node 0")) << text;
  EXPECT_TRUE(says(text, "2 machines: 80.000 J, 40.00 W")) << text;
}

TEST(PowerTable, NamesMayHoldAnything) {
  PowerReport strange = report(0, "a", 30);
  strange.accounts["a\tb\nc"] = {1, 4, 1};
  EXPECT_DOUBLE_EQ(4, sent(strange).accounts.at("a b c").joules);
}

TEST(PowerTable, NeverZeroWattsForUnknown) {
  PowerReport lost = report(0, "a", 0);
  lost.why_unknown = "no permission: somewhere";
  lost.accounts["computing"].joules = unknown;
  lost.accounts["waiting in sms_barrier"] = {0.001, 0, 0};
  const std::string text = power_table({sent(lost), sent(report(1, "b", 8))});
  EXPECT_TRUE(says(text, "joules unknown: no permission: somewhere")) << text;
  EXPECT_FALSE(says(text, "machines:")) << text;
  EXPECT_FALSE(says(text, " 0.000 J in")) << text;
  EXPECT_FALSE(says(text, " 0.00 ")) << text;
}

}  // namespace
}  // namespace hiroba
