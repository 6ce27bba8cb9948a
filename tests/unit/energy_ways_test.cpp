// Ways to read energy beside powercap: perf events, sensors of hwmon, GPUs by NVML, a board's controller.
#include <dlfcn.h>

#include <cstdlib>
#include <thread>

#include "base/wait.hpp"
#include "energy_tree.hpp"

namespace hiroba {
namespace {

class EnergyWays : public EnergyTree {
 protected:
  static bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }
  // Samples as fast as sources change.
  void watch(double seconds) {
    const double begin = seconds_now();
    for (double now = begin; now - begin < seconds; now = seconds_now()) {
      meter.sample(now);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void gpus(const char* words) {
    setenv("FAKE_NVML", words, 1);
    open(FAKE_NVML_LIBRARY);
    unsetenv("FAKE_NVML");
  }
  // The type is that of the kernel's software events, and 0 its clock of a CPU, in nanoseconds: 1 W, by this scale.
  void clock_as_energy(const std::string& event, const std::string& cpus = "0") {
    const std::string folder = "bus/event_source/devices/power/";
    write(folder + "type", "1");
    write(folder + "cpumask", cpus);
    write(folder + "events/" + event, "event=0x00");
    write(folder + "events/" + event + ".scale", "1e-9");
  }
};

TEST_F(EnergyWays, PerfCountsInItsScale) {
  clock_as_energy("energy-pkg");
  open();
  const std::string why_not = reader("package-0").why_not;
  if (!why_not.empty()) GTEST_SKIP() << why_not;
  watch(0.3);
  EXPECT_NEAR(1, reader("package-0").sum.watts(), 1e-2);
  EXPECT_EQ("package-0", meter.summands());
}

TEST_F(EnergyWays, APackageThatTwoWaysShowCountsOnce) {
  zone("intel-rapl:0", "package-0");
  clock_as_energy("energy-pkg");
  clock_as_energy("energy-psys");
  open();
  EXPECT_EQ("package-0", meter.summands());
  EXPECT_EQ("", reader("package-0", "powercap").why_not_counted);
  // Where powercap is for root alone, perf may not be.
  make_unreadable("class/powercap/intel-rapl:0/energy_uj");
  open();
  if (reader("package-0", "perf").why_not.empty()) {
    EXPECT_EQ("", reader("package-0", "perf").why_not_counted);
  }
}

TEST_F(EnergyWays, AnEventOfPerfThatTheKernelDoesNotHave) {
  clock_as_energy("energy-psys", "0-1");
  write("bus/event_source/devices/power/type", "9999");
  EXPECT_FALSE(open().front().why_not.empty());
  write("bus/event_source/devices/power/events/energy-psys.scale", "none");
  EXPECT_TRUE(says(open().front().why_not, "its scale is 'none'"));
  EXPECT_EQ(1u, meter.readers().size());
}

TEST_F(EnergyWays, SocketsOfGraceContainTheirProcessors) {
  const char* labels[] = {"Module Power Socket 0", "Grace Power Socket 0", "CPU Power Socket 0"};
  for (int i = 0; i < 3; ++i) {
    const std::string folder = "class/hwmon/hwmon" + std::to_string(i);
    write(folder + "/name", "power_meter");
    write(folder + "/power1_average", std::to_string(300'000'000 - 50'000'000 * i));
    write(folder + "/power1_average_interval", "50");
    write(folder + "/power1_oem_info", labels[i]);
  }
  open();
  EXPECT_EQ("package-0", meter.summands());
  EXPECT_EQ(0.05, reader("package-0").source->about.period);
  meter.sample(0);
  meter.sample(200);
  EXPECT_NEAR(50000, meter.joules(200).value, 50);
}

TEST_F(EnergyWays, SensorsOfBoardsAreShownAndNotAdded) {
  write("class/hwmon/hwmon3/name", "ina226");
  write("class/hwmon/hwmon3/power1_input", "12000000");
  write("class/hwmon/hwmon3/power1_label", "VDD_CPU");
  write("class/hwmon/hwmon4/name", "coretemp");
  open();
  ASSERT_EQ(1u, meter.readers().size());
  EXPECT_EQ("ina226 VDD_CPU", meter.readers()[0].source->about.name);
  EXPECT_EQ("", meter.summands());
}

TEST_F(EnergyWays, GpusThatCountAndGpusThatTell) {
  gpus("counts=250 tells=200 slow=300");
  ASSERT_EQ(3u, meter.readers().size());
  auto& clock = *static_cast<double*>(dlsym(dlopen(FAKE_NVML_LIBRARY, RTLD_NOW), "fake_nvml_clock"));
  for (int i = 0; i <= 5000; ++i) {
    clock = i * 0.02;
    meter.sample(clock, i == 5000);
  }
  clock = -1;
  EXPECT_NEAR(250, meter.readers()[0].sum.watts(), 0.25);
  EXPECT_NEAR(200, meter.readers()[1].sum.watts(), 0.2);
  EXPECT_NEAR(300, meter.readers()[2].sum.watts(), 0.3);
  EXPECT_NEAR(0.25, meter.readers()[2].sum.period(), 0.01);
  EXPECT_NEAR(75000, meter.joules(100).value, 75);
  EXPECT_EQ("gpu-1 (Fake tells)", meter.readers()[1].source->about.name);
  EXPECT_TRUE(meter.readers()[1].source->about.integrated);
  EXPECT_EQ("0002:02:02.0", meter.readers()[2].source->about.id);
  EXPECT_NEAR(30000, meter.joules_of("0002:02:02.0", 100).value, 30);
  EXPECT_NE("", meter.joules_of("0009:00:00.0", 100).why_unknown);
}

TEST_F(EnergyWays, GpusThatCannotBeRead) {
  gpus("denied lost backwards=1");
  EXPECT_TRUE(meter.readers()[0].why_not.starts_with("no permission"));
  EXPECT_TRUE(says(meter.readers()[1].why_not, "GPU is lost"));
  meter.sample(0, true);
  meter.sample(1, true);
  EXPECT_TRUE(meter.readers()[2].why_not.starts_with("counter went backwards"));
  EXPECT_TRUE(meter.joules(2).why_unknown.starts_with("counter went backwards"));
}

TEST_F(EnergyWays, NoNvml) {
  EnergySources sources;
  const auto reason = [&](const char* library) { return add_nvml(library, sources).message(); };
  EXPECT_TRUE(reason("none").starts_with("not there"));
  EXPECT_TRUE(reason("./nowhere/libnvidia-ml.so.1").starts_with("not there"));
  EXPECT_TRUE(says(reason("libm.so.6"), "has no nvmlInit_v2"));
  unsetenv("FAKE_NVML");
  EXPECT_TRUE(says(reason(FAKE_NVML_LIBRARY), "Driver Not Loaded"));
}

TEST_F(EnergyWays, AnswersOfABoardsController) {
  unsigned char answer[] = {0, 0xdc, 0x2c, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40};
  uint64_t watts = 0;
  ASSERT_TRUE(dcmi_watts(answer, sizeof answer, watts).ok());
  EXPECT_EQ(300'000'000u, watts);
  EXPECT_FALSE(dcmi_watts(answer, 18, watts).ok());
  answer[18] = 0;
  EXPECT_TRUE(dcmi_watts(answer, sizeof answer, watts).message().starts_with("not there"));
  const unsigned char refused[] = {0xd4}, unknown[] = {0xc1};
  EXPECT_TRUE(dcmi_watts(refused, 1, watts).message().starts_with("no permission"));
  EXPECT_TRUE(dcmi_watts(unknown, 1, watts).message().starts_with("not there"));
  EXPECT_FALSE(dcmi_watts(answer, 0, watts).ok());
}

TEST_F(EnergyWays, AControllerWithoutItsDevice) {
  write("class/ipmi/ipmi77/dev", "1:1");
  open();
  ASSERT_EQ(1u, meter.readers().size());
  EXPECT_TRUE(meter.readers()[0].why_not.starts_with("not there: /dev/ipmi77"));
}

}  // namespace
}  // namespace hiroba
