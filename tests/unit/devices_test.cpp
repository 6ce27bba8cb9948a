// Devices as a whole, on memory of this process: random programs in several streams against the same ones in order, and
// what each kind of device must do.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <tuple>

#include "device/backend.hpp"

namespace hiroba {
namespace {

// ---- each kind of device ------------------------------------------------------------------------------------------

struct Kind {
  const char* name;
  uint64_t seed;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name << " " << kind.seed; }

class DeviceBackends : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    DeviceSettings settings;
    settings.seed = GetParam().seed;
    for (auto& backend : device_backends(settings)) {
      std::vector<DeviceDescription> found;
      if (std::string(GetParam().name) != backend->name()) continue;
      if (const Status status = backend->find(found); !status.ok() || found.empty())
        GTEST_SKIP() << "not run here: no GPU";
      ASSERT_TRUE(backend->open(0, device).ok());
    }
    ASSERT_TRUE(device->enter().ok());
    ASSERT_TRUE(device->make_queue(queue).ok());
    ASSERT_TRUE(device->make_queue(other).ok());
    ASSERT_TRUE(device->make_event(event).ok());
    ASSERT_TRUE(device->allocate_pinned(bytes, pinned).ok());
    ASSERT_TRUE(device->allocate(bytes, memory).ok());
    ASSERT_NE(memory, nullptr);
  }
  void TearDown() override {
    if (device == nullptr) return;
    queue.reset(), other.reset();
    device->release(memory), device->release_pinned(pinned);
  }
  static constexpr size_t bytes = 1 << 16;
  std::unique_ptr<OpenDevice> device;
  std::unique_ptr<DeviceQueue> queue, other;
  std::unique_ptr<DeviceEvent> event;
  char *pinned = nullptr, *memory = nullptr;
};

TEST_P(DeviceBackends, CopiesComeBack) {
  for (size_t i = 0; i < bytes; ++i) pinned[i] = static_cast<char>(i % 251);
  const DeviceRows whole = {bytes, 1, 0, 0};
  ASSERT_TRUE(queue->to_device(memory, pinned, whole).ok());
  ASSERT_TRUE(queue->record(*event).ok());
  ASSERT_TRUE(event->wait().ok());
  std::memset(pinned, 0, bytes);
  ASSERT_TRUE(queue->to_host(pinned, memory, whole).ok());
  ASSERT_TRUE(queue->record(*event).ok());
  ASSERT_TRUE(event->wait().ok());
  for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(pinned[i], static_cast<char>(i % 251));
}

TEST_P(DeviceBackends, RowsKeepTheirDistance) {
  std::memset(pinned, 1, bytes);
  ASSERT_TRUE(queue->to_device(memory, pinned, {bytes, 1, 0, 0}).ok());
  char* const rows = pinned + bytes / 2;
  ASSERT_TRUE(queue->record(*event).ok());
  ASSERT_TRUE(event->wait().ok());
  std::memset(rows, 2, 30);
  ASSERT_TRUE(queue->to_device(memory + 100, rows, {10, 3, 50, 10}).ok());
  ASSERT_TRUE(queue->record(*event).ok());
  ASSERT_TRUE(event->wait().ok());
  ASSERT_TRUE(queue->to_host(pinned, memory, {bytes, 1, 0, 0}).ok());
  ASSERT_TRUE(queue->record(*event).ok());
  ASSERT_TRUE(event->wait().ok());
  for (size_t i = 0; i < 400; ++i) ASSERT_EQ(pinned[i], i >= 100 && i < 250 && (i - 100) % 50 < 10 ? 2 : 1) << i;
}

TEST_P(DeviceBackends, AnEventOrdersQueues) {
  char* const back = pinned + bytes / 2;
  for (char round = 1; round < 40; ++round) {
    std::memset(pinned, round, 1000);
    ASSERT_TRUE(queue->to_device(memory, pinned, {1000, 1, 0, 0}).ok());
    ASSERT_TRUE(queue->record(*event).ok());
    ASSERT_TRUE(other->wait(*event).ok());
    ASSERT_TRUE(other->to_host(back, memory, {1000, 1, 0, 0}).ok());
    ASSERT_TRUE(other->record(*event).ok());
    ASSERT_TRUE(event->wait().ok());
    ASSERT_EQ(std::count(back, back + 1000, round), 1000);
  }
}

TEST_P(DeviceBackends, TooMuchMemoryIsNoError) {
  char* none = pinned;
  ASSERT_TRUE(device->allocate(uint64_t{1} << 50, none).ok());
  EXPECT_EQ(none, nullptr);
}

INSTANTIATE_TEST_SUITE_P(All, DeviceBackends,
                         ::testing::Values(Kind{"host", 0}, Kind{"host", 3}, Kind{"host", 4}, Kind{"cuda", 0}),
                         [](const auto& info) { return info.param.name + std::to_string(info.param.seed); });

// ---- host devices alone -------------------------------------------------------------------------------------------

// Returns null if it cannot be opened.
std::unique_ptr<OpenDevice> host_device(uint64_t seed) {
  DeviceSettings settings;
  settings.seed = seed;
  std::unique_ptr<OpenDevice> device;
  for (auto& backend : device_backends(settings))
    if (backend->kind() == DeviceKind::host && !backend->open(0, device).ok()) return nullptr;
  return device;
}

TEST(HostDevice, ItsMemoryIsClosedToTheProcessor) {
  const std::unique_ptr<OpenDevice> device = host_device(0);
  ASSERT_NE(device, nullptr);
  char* memory = nullptr;
  ASSERT_TRUE(device->allocate(4096, memory).ok());
  EXPECT_DEATH(*static_cast<volatile char*>(memory) = 1, "");
  device->release(memory);
}

// A quarter of the works waits for 150 us on average, so 400 take 15 ms.
TEST(HostDevice, WithASeedItLetsOtherQueuesGoFirst) {
  const std::unique_ptr<OpenDevice> device = host_device(5);
  ASSERT_NE(device, nullptr);
  std::unique_ptr<DeviceQueue> queue;
  std::unique_ptr<DeviceEvent> event;
  ASSERT_TRUE(device->make_queue(queue).ok());
  ASSERT_TRUE(device->make_event(event).ok());
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(queue->record(*event).ok());
  ASSERT_TRUE(event->wait().ok());
  EXPECT_GT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(5));
}

TEST(HostDevice, WithASeedItCopiesPinnedMemoryOnly) {
  const std::unique_ptr<OpenDevice> device = host_device(5);
  ASSERT_NE(device, nullptr);
  std::unique_ptr<DeviceQueue> queue;
  ASSERT_TRUE(device->make_queue(queue).ok());
  char* memory = nullptr;
  ASSERT_TRUE(device->allocate(4096, memory).ok());
  char own[10] = {};
  EXPECT_FALSE(queue->to_device(memory, own, {10, 1, 0, 0}).ok());
  queue.reset();
  device->release(memory);
}

// Surroundings without other floors.
DeviceSurroundings alone() {
  DeviceSurroundings out;
  out.name_of = out.array_of = [](const void*) { return std::string("memory"); };
  out.prefetch = [](const void*, size_t) {};
  out.changes = [] { return uint64_t{0}; };
  return out;
}

// A preload of rows does not move again those of them that an overload has moved. With a seed, host devices copy by
// buffers, or directly.
class Moves : public ::testing::TestWithParam<std::tuple<uint64_t, bool>> {
 protected:
  static constexpr size_t mebi = size_t{1} << 20, total = 40 * mebi;
  const bool directly = std::get<1>(GetParam());
  const std::unique_ptr<char, decltype(&std::free)> memory{static_cast<char*>(std::aligned_alloc(4096, total)),
                                                           std::free};
  const DeviceSection all{memory.get(), total}, rows{memory.get() + mebi, 38 * mebi};
  Devices devices;
  DeviceStream* stream = nullptr;
  std::shared_ptr<Request> done;

  void SetUp() override {
    std::memset(memory.get(), 1, total);
    DeviceSettings settings;
    settings.backend = "host", settings.count = 1, settings.seed = std::get<0>(GetParam()), settings.threads = 2;
    DeviceSurroundings around = alone();
    if (directly)
      around.steady = [this](const char*, char*& begin, char*& end) {
        begin = memory.get(), end = begin + total;
        return true;
      };
    devices.start(settings, std::move(around));
    check(devices.make_stream(0, stream));
  }
  void TearDown() override { devices.stop(); }
  static void check(const Status& status) { ASSERT_TRUE(status.ok()) << status.message(); }
  void preload() {
    check(devices.preload(all, *stream, "", done));
    check(devices.finish());
  }
  void add_one() {
    const DeviceAccess access = {rows, true, true};
    const DeviceKernel kernel = {"add",
                                 [](void* const* data, const void*, void*) {
                                   for (size_t i = 0; i < 38 * mebi; ++i) ++static_cast<char*>(data[0])[i];
                                   return 0;
                                 },
                                 nullptr};
    check(devices.launch(kernel, *stream, {&access, 1}, nullptr, 0, ""));
    check(devices.overload(rows, *stream, "", done));
    check(devices.finish());
  }
};

TEST_P(Moves, KnowWhatTheOthersHaveMoved) {
  preload();
  add_one();
  memory.get()[20 * mebi] = 7;
  const Devices::Moved before = devices.moved();
  preload();
  EXPECT_LT(devices.moved().preloaded - before.preloaded, 24 * mebi);
  EXPECT_GE(devices.moved().preloaded - before.preloaded, 2 * mebi);
  add_one();
  EXPECT_EQ(memory.get()[20 * mebi], 8);
  EXPECT_EQ(memory.get()[20 * mebi + 1], 3);
  EXPECT_EQ(memory.get()[mebi - 1], 1);
  EXPECT_EQ(memory.get()[39 * mebi], 1);
  const bool expected = directly && std::get<0>(GetParam()) != 0;
  EXPECT_EQ(devices.moved().directly, expected ? devices.moved().preloaded + devices.moved().overloaded : 0);
}

INSTANTIATE_TEST_SUITE_P(All, Moves, ::testing::Combine(::testing::Values(0, 3), ::testing::Bool()));

// ---- random programs ----------------------------------------------------------------------------------------------

struct Change {
  int64_t rows, bytes, stride;
  char add;
};
int change(void* const* data, const void* argument, void*) {
  const Change& c = *static_cast<const Change*>(argument);
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.bytes; ++j) static_cast<char*>(data[0])[i * c.stride + j] += c.add;
  return 0;
}
const DeviceKernel change_kernel = {"change", change, nullptr};

// Bands of rows, each with a copy on the device and two streams; boxes in them are changed by the program, preloaded,
// changed on the device, and overloaded. The model has an image of both sides.
class RandomDevices : public ::testing::TestWithParam<uint64_t> {
 protected:
  static constexpr int64_t width = 300, rows_of_band = 20;
  static constexpr size_t bands = 5, total = bands * rows_of_band * width;
  struct Box {
    size_t at;
    int64_t rows, bytes;
  };
  std::vector<char> memory = std::vector<char>(total), host = memory, device = memory;
  Devices devices;
  std::mt19937 random;
  std::vector<std::array<DeviceStream*, 2>> streams;
  std::vector<std::shared_ptr<Request>> pending = std::vector<std::shared_ptr<Request>>(bands);

  void start(uint64_t seed) {
    random.seed(seed);
    DeviceSettings settings;
    settings.backend = "host", settings.count = 1, settings.seed = seed % 2 == 0 ? 0 : seed;
    settings.threads = 1 + static_cast<int>(seed % 3), settings.piece = 64 + seed % 5 * 500;
    devices.start(settings, alone());
    for (char& byte : memory) byte = static_cast<char>(random());
    host = device = memory;
    streams.resize(bands);
    for (size_t band = 0; band < bands; ++band) {
      for (DeviceStream*& stream : streams[band]) check(devices.make_stream(0, stream));
      check(devices.preload(section({band * rows_of_band * width, rows_of_band, width}), *streams[band][0], "first",
                            pending[band]));
    }
  }
  static void check(const Status& status) { ASSERT_TRUE(status.ok()) << status.message(); }
  int64_t draw(int64_t least, int64_t most) { return std::uniform_int_distribution<int64_t>(least, most)(random); }
  Box box(size_t band) {
    const int64_t row = draw(0, rows_of_band - 1), column = draw(0, width - 1);
    return {(band * rows_of_band + static_cast<size_t>(row)) * width + static_cast<size_t>(column),
            draw(1, rows_of_band - row), draw(1, width - column)};
  }
  DeviceSection section(const Box& box) {
    DeviceSection out(memory.data() + box.at, static_cast<size_t>(box.bytes));
    out.add(box.rows, width);
    return out;
  }
  template <typename Act>
  static void for_each(const Box& box, const Act& act) {
    for (int64_t i = 0; i < box.rows; ++i)
      for (int64_t j = 0; j < box.bytes; ++j) act(box.at + static_cast<size_t>(i * width + j));
  }
  void await(std::shared_ptr<Request>& request) {
    for (bool done = false; !done; std::this_thread::yield()) check(request->advance(done));
  }
  // On two streams, which order each other.
  void step(size_t band) {
    DeviceStream &first = *streams[band][0], &second = *streams[band][1];
    std::shared_ptr<Request> ignored;
    if (draw(0, 2) == 0) {
      await(pending[band]);
      for_each(box(band), [&](size_t i) { memory[i] ^= 5, host[i] ^= 5; });
    }
    const Box brought = box(band), changed = box(band);
    check(devices.preload(section(brought), first, "preload", ignored));
    for_each(brought, [&](size_t i) { device[i] = host[i]; });
    check(devices.order(second, first));
    const Change argument = {changed.rows, changed.bytes, width, static_cast<char>(draw(1, 100))};
    const DeviceAccess access = {section(changed), true, true};
    check(devices.launch(change_kernel, second, {&access, 1}, &argument, sizeof argument, "kernel"));
    for_each(changed, [&](size_t i) { host[i] = device[i] = static_cast<char>(device[i] + argument.add); });
    check(devices.overload(section(changed), second, "overload", pending[band]));
    check(devices.order(first, second));
  }
};

TEST_P(RandomDevices, GiveWhatAModelGives) {
  start(GetParam());
  for (int i = 0; i < 120 && !HasFatalFailure(); ++i) step(static_cast<size_t>(draw(0, bands - 1)));
  check(devices.finish());
  EXPECT_TRUE(memory == host);
  devices.stop();
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomDevices, ::testing::Range(uint64_t{1}, uint64_t{9}));

}  // namespace
}  // namespace hiroba
