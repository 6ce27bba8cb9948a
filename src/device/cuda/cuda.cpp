#include "device/cuda/cuda.hpp"

#include <unistd.h>

#include <fstream>
#include <mutex>
#include <set>

#include "base/text.hpp"
#include "base/wait.hpp"
#include "device/cuda/driver.hpp"

namespace hiroba {

namespace {

using cuda::Driver;
using cuda::failure;
using cuda::Result;

cuda::DevicePointer pointer(const char* device) { return reinterpret_cast<cuda::DevicePointer>(device); }

// An error of the device stays with it: every later call returns it.
class CudaEvent final : public DeviceEvent {
 public:
  CudaEvent(const Driver& driver, cuda::Event event) : driver_(driver), event_(event) {}
  ~CudaEvent() override { driver_.cuEventDestroy_v2(event_); }
  Status done(bool& out) override {
    const Result result = driver_.cuEventQuery(event_);
    out = result != cuda::not_ready;
    return result == cuda::success || !out ? Status() : failure(driver_, result, "work of the device");
  }
  // Polls: an event for which the driver sleeps interrupts the processor each time, and wakes its thread late.
  Status wait() override {
    constexpr double yielding = 1e-3;
    bool happened = false;
    for (Backoff backoff(20, yielding); !happened;) {
      HIROBA_TRY(done(happened));
      if (!happened && !backoff.step()) usleep(50);
    }
    return {};
  }
  cuda::Event event() const { return event_; }

 private:
  const Driver& driver_;
  const cuda::Event event_;
};

class CudaDevice;

class CudaQueue final : public DeviceQueue {
 public:
  CudaQueue(const Driver& driver, cuda::Stream stream, CudaDevice& device)
      : driver_(driver), stream_(stream), device_(device) {}
  ~CudaQueue() override { driver_.cuStreamDestroy_v2(stream_); }

  Status to_device(char* to, const char* from, const DeviceRows& rows) override {
    if (rows.rows == 1)
      return checked(driver_.cuMemcpyHtoDAsync_v2(pointer(to), from, rows.bytes, stream_), "a copy to the device");
    cuda::Copy2D copy = box(rows);
    copy.from_type = cuda::type_host, copy.from_host = from;
    copy.to_type = cuda::type_device, copy.to_device = pointer(to);
    return checked(driver_.cuMemcpy2DAsync_v2(&copy, stream_), "a copy to the device");
  }
  Status to_host(char* to, const char* from, const DeviceRows& rows) override {
    if (rows.rows == 1)
      return checked(driver_.cuMemcpyDtoHAsync_v2(to, pointer(from), rows.bytes, stream_), "a copy from the device");
    cuda::Copy2D copy = box(rows);
    copy.from_type = cuda::type_device, copy.from_device = pointer(from);
    copy.to_type = cuda::type_host, copy.to_host = to;
    return checked(driver_.cuMemcpy2DAsync_v2(&copy, stream_), "a copy from the device");
  }
  Status from_device(char* to, OpenDevice& source, const char* from, size_t bytes) override;
  void* native() const override { return stream_; }
  Status run(KernelRun run) override {
    const int error = run.function(run.data.data(), run.argument.data(), stream_);
    if (error == 0) return {};
    constexpr int insufficient_driver = 35, call_of_newer_driver = 36;  // of cudaError_t
    if (error == insufficient_driver || error == call_of_newer_driver) {
      int version = 0;
      driver_.cuDriverGetVersion(&version);
      return Status::error(format(
          "%s: the program was compiled for a newer CUDA than that of the driver, %d.%d; install a newer driver, or "
          "compile with an older CUDA",
          run.what.c_str(), version / 1000, version % 1000 / 10));
    }
    return failure(driver_, error, (run.what + ": it has failed").c_str());
  }
  Status record(DeviceEvent& event) override {
    return checked(driver_.cuEventRecord(static_cast<CudaEvent&>(event).event(), stream_), "an event");
  }
  Status wait(DeviceEvent& event) override {
    return checked(driver_.cuStreamWaitEvent(stream_, static_cast<CudaEvent&>(event).event(), 0),
                   "a wait for an event");
  }

 private:
  static cuda::Copy2D box(const DeviceRows& rows) {
    cuda::Copy2D copy = {};
    copy.from_pitch = static_cast<size_t>(rows.from), copy.to_pitch = static_cast<size_t>(rows.to);
    copy.width = rows.bytes, copy.height = static_cast<size_t>(rows.rows);
    return copy;
  }
  Status checked(Result result, const char* doing) const {
    return result == cuda::success ? Status() : failure(driver_, result, doing);
  }
  const Driver& driver_;
  const cuda::Stream stream_;
  CudaDevice& device_;
};

// Makes a device current in the calling thread, which may be the program's, while the object lives.
class Inside {
 public:
  Inside(const Driver& driver, cuda::Context context) : driver_(driver) { driver_.cuCtxPushCurrent_v2(context); }
  Inside(const Inside&) = delete;
  ~Inside() {
    cuda::Context mine = nullptr;
    driver_.cuCtxPopCurrent_v2(&mine);
  }

 private:
  const Driver& driver_;
};

class CudaDevice final : public OpenDevice {
 public:
  CudaDevice(const Driver& driver, cuda::Device device, cuda::Context context)
      : driver_(driver), device_(device), context_(context) {}
  ~CudaDevice() override { driver_.cuDevicePrimaryCtxRelease_v2(device_); }

  Status enter() override {
    const Result result = driver_.cuCtxSetCurrent(context_);
    return result == cuda::success ? Status() : failure(driver_, result, "the use of a device");
  }
  Status allocate(size_t bytes, char*& out) override {
    const Inside inside(driver_, context_);
    cuda::DevicePointer at = 0;
    const Result result = driver_.cuMemAlloc_v2(&at, bytes);
    out = result == cuda::success ? reinterpret_cast<char*>(at) : nullptr;
    if (result == cuda::success || result == cuda::out_of_memory) return {};
    return failure(driver_, result, format("memory of the device, %s", show_bytes(bytes).c_str()).c_str());
  }
  void release(char* allocation) override {
    const Inside inside(driver_, context_);
    driver_.cuMemFree_v2(pointer(allocation));
  }
  Status allocate_pinned(size_t bytes, char*& out) override {
    const Inside inside(driver_, context_);
    void* at = nullptr;
    const Result result = driver_.cuMemHostAlloc(&at, bytes, cuda::portable);
    out = static_cast<char*>(at);
    if (result == cuda::success) return {};
    return failure(driver_, result, format("pinned memory for copies, %s", show_bytes(bytes).c_str()).c_str());
  }
  void release_pinned(char* allocation) override {
    const Inside inside(driver_, context_);
    driver_.cuMemFreeHost(allocation);
  }
  bool pin(char* begin, size_t bytes) override {
    const Inside inside(driver_, context_);
    return driver_.cuMemHostRegister_v2(begin, bytes, cuda::portable) == cuda::success;
  }
  void unpin(char* begin) override {
    const Inside inside(driver_, context_);
    driver_.cuMemHostUnregister(begin);
  }
  Status make_queue(std::unique_ptr<DeviceQueue>& out) override {
    const Inside inside(driver_, context_);
    cuda::Stream stream = nullptr;
    const Result result = driver_.cuStreamCreate(&stream, cuda::non_blocking);
    if (result != cuda::success) return failure(driver_, result, "a new stream");
    out = std::make_unique<CudaQueue>(driver_, stream, *this);
    return {};
  }
  cuda::Context context() const { return context_; }
  // Copies from that device come by the link between both from now on, where there is one, and not by the processor's
  // memory. Where there is none, or the program has asked for it already, the driver refuses, and nothing changes.
  void link_with(cuda::Context other) {
    const std::lock_guard<std::mutex> guard(lock_);
    if (other == context_ || !linked_.insert(other).second) return;
    const Inside inside(driver_, context_);
    driver_.cuCtxEnablePeerAccess(other, 0);
  }
  Status make_event(std::unique_ptr<DeviceEvent>& out) override {
    const Inside inside(driver_, context_);
    cuda::Event event = nullptr;
    const Result result = driver_.cuEventCreate(&event, cuda::no_timing);
    if (result != cuda::success) return failure(driver_, result, "a new event");
    out = std::make_unique<CudaEvent>(driver_, event);
    return {};
  }

 private:
  const Driver& driver_;
  const cuda::Device device_;
  const cuda::Context context_;
  std::mutex lock_;                 // guards the next member
  std::set<cuda::Context> linked_;  // devices
};

Status CudaQueue::from_device(char* to, OpenDevice& source, const char* from, size_t bytes) {
  const cuda::Context there = static_cast<CudaDevice&>(source).context();
  device_.link_with(there);
  return checked(driver_.cuMemcpyPeerAsync(pointer(to), device_.context(), pointer(from), there, bytes, stream_),
                 "a copy between devices");
}

class CudaBackend final : public DeviceBackend {
 public:
  const char* name() const override { return "cuda"; }
  DeviceKind kind() const override { return DeviceKind::cuda; }
  Status find(std::vector<DeviceDescription>& out) override {
    const Driver* driver = nullptr;
    HIROBA_TRY(cuda::load(driver));
    int count = 0;
    driver->cuDeviceGetCount(&count);
    for (int i = 0; i < count; ++i) out.push_back(describe(*driver, i, count));
    return {};
  }
  Status open(int number, std::unique_ptr<OpenDevice>& out) override {
    const Driver* driver = nullptr;
    HIROBA_TRY(cuda::load(driver));
    cuda::Device device = 0;
    cuda::Context context = nullptr;
    Result result = driver->cuDeviceGet(&device, number);
    if (result == cuda::success) result = driver->cuDevicePrimaryCtxRetain(&context, device);
    if (result != cuda::success) return failure(*driver, result, format("device %d", number).c_str());
    out = std::make_unique<CudaDevice>(*driver, device, context);
    return {};
  }

 private:
  // Lists what the hardware reaches without the memory of the processor in between.
  static std::string direct(const Driver& driver, cuda::Device device, int number, int count, bool network) {
    std::vector<int> others;
    for (int i = 0; i < count; ++i) {
      cuda::Device other = 0;
      int can = 0;
      if (i != number && driver.cuDeviceGet(&other, i) == cuda::success &&
          driver.cuDeviceCanAccessPeer(&can, device, other) == cuda::success && can == 1)
        others.push_back(i);
    }
    std::string text = network ? "networks" : "";
    if (!others.empty())
      text += format("%sdevice%s %s", network ? ", " : "", others.size() == 1 ? "" : "s", show_numbers(others).c_str());
    return "GPU Direct: " + (text.empty() ? "none" : text);
  }
  static DeviceDescription describe(const Driver& driver, int number, int count) {
    DeviceDescription out;
    cuda::Device device = 0;
    char name[96] = "";
    driver.cuDeviceGet(&device, number);
    driver.cuDeviceGetName(name, sizeof name, device);
    driver.cuDeviceTotalMem_v2(&out.memory, device);
    const auto attribute = [&](int which) {
      int value = -1;
      return driver.cuDeviceGetAttribute(&value, which, device) == cuda::success ? value : -1;
    };
    out.name = name, out.number = number;
    const std::string address =
        format("%04x:%02x:%02x.0", attribute(cuda::pci_domain), attribute(cuda::pci_bus), attribute(cuda::pci_slot));
    const std::string folder = "/sys/bus/pci/devices/" + address + "/";
    std::string speed, width;
    std::getline(std::ifstream(folder + "max_link_speed"), speed);
    std::ifstream(folder + "max_link_width") >> width;
    if (!(std::ifstream(folder + "numa_node") >> out.domain) || out.domain < 0)
      out.domain = attribute(cuda::host_domain);
    out.address = address;
    out.link = "PCI " + address;
    if (!speed.empty() && !width.empty()) out.link += format(", %s x%s", speed.c_str(), width.c_str());
    out.direct = direct(driver, device, number, count, attribute(cuda::gpu_direct) == 1);
    return out;
  }
};

}  // namespace

std::unique_ptr<DeviceBackend> make_cuda_backend() { return std::make_unique<CudaBackend>(); }

}  // namespace hiroba
