// Devices in the order of a measured table.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "device/share.hpp"

namespace hiroba {
namespace {

bool says(const Status& status, const std::string& words) { return status.message().find(words) != std::string::npos; }

class DevicePlaces : public testing::Test {
 protected:
  DevicePlaces() {
    char name[] = "/tmp/hiroba_table_XXXXXX";
    close(mkstemp(name));
    file = name;
  }
  ~DevicePlaces() override { unlink(file.c_str()); }
  Status read(const std::string& text) {
    std::ofstream(file) << text;
    return read_spread_table(file, table);
  }
  static std::vector<DeviceDescription> three() {
    std::vector<DeviceDescription> out;
    for (int i = 0; i < 3; ++i) out.push_back({"P100", "PCI", i, -1, 1, ""});
    return out;
  }
  static std::vector<int> numbers(const std::vector<DeviceDescription>& devices) {
    std::vector<int> out;
    for (const DeviceDescription& device : devices) out.push_back(device.number);
    return out;
  }
  std::string file;
  std::vector<MeasuredDevice> table;
};

constexpr char good[] =
    "# hiroba power spread 1\n"
    "left\tcuda\t0\tP100\t260.5\t0.01\n"
    "left\tcuda\t1\tP100\t240\t0.03\n"
    "left\tcuda\t2\tP100\t250\t0.02\n"
    "right\tcuda\t0\tV100\tunknown\t0.01\n";

TEST_F(DevicePlaces, TheBestFirst) {
  ASSERT_TRUE(read(good).ok());
  auto devices = three();
  ASSERT_TRUE(order_devices(table, "power", "left", "cuda", devices).ok());
  EXPECT_EQ((std::vector<int>{1, 2, 0}), numbers(devices));
  ASSERT_TRUE(order_devices(table, "speed", "left", "cuda", devices).ok());
  EXPECT_EQ((std::vector<int>{0, 2, 1}), numbers(devices));
}

TEST_F(DevicePlaces, AnotherMachineIsRefusedByName) {
  ASSERT_TRUE(read(good).ok());
  auto devices = three();
  const Status other = order_devices(table, "speed", "middle", "cuda", devices);
  EXPECT_TRUE(says(other, "of another machine: it has devices of 'left', 'right', and this is 'middle'"));
  EXPECT_TRUE(says(order_devices(table, "speed", "left", "host", devices), "of kind host"));
  EXPECT_EQ((std::vector<int>{0, 1, 2}), numbers(devices));
  devices = {{"P100", "PCI", 0, -1, 1, ""}};
  EXPECT_TRUE(says(order_devices(table, "speed", "right", "cuda", devices), "is 'P100', and in the table 'V100'"));
  devices[0].name = "V100";
  EXPECT_TRUE(says(order_devices(table, "power", "right", "cuda", devices), "has no watts of device 0"));
  EXPECT_TRUE(order_devices(table, "speed", "right", "cuda", devices).ok());
}

TEST_F(DevicePlaces, WhatIsNoTable) {
  for (const char* const line :
       {"left\tcuda\t0\tP100\t260.5\n", "left\tcuda\t0\tP100\t260.5\t0\n", "words\n", "left\tcuda\tx\tP100\t260.5\t1\n",
        "left\tcuda\t0\tP100\t-5\t1\n", "left\tcuda\t0\tP100\tmany\t1\n", "left\tcuda\t0\tP100\t5\t1s\n",
        "left\tcuda\t0\tP100\t5\t1\t7\n"})
    EXPECT_TRUE(says(read(std::string("# a comment\n\n") + line), "line 3 of")) << line;
  EXPECT_TRUE(says(read("# a comment\n"), "has no devices"));
  EXPECT_TRUE(says(read_spread_table("nowhere.tsv", table), "cannot read 'nowhere.tsv'"));
}

}  // namespace
}  // namespace hiroba
