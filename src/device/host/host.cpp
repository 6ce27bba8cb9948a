#include "device/host/host.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <random>

#include "base/text.hpp"
#include "device/work_list.hpp"

namespace hiroba {

namespace {

// Memory of a device: one file that is mapped twice. Programs get the addresses of the first mapping, which is closed
// unless a kernel runs that names it; copies use the second one.
struct HostAllocation {
  char *shown, *own;
  size_t bytes;
  int users = 0;  // kernels that run
};

class HostMemory {
 public:
  explicit HostMemory(uint64_t most) : most_(most) {}
  ~HostMemory() {
    for (const auto& [shown, a] : allocations_) unmap(a);
  }

  Status allocate(size_t bytes, char*& out) {
    out = nullptr;
    const std::lock_guard<std::mutex> guard(lock_);
    if (bytes > most_ - used_) return {};
    const int file = memfd_create("hiroba-device", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
      if (file >= 0) close(file);
      return Status::error(format("memory of a host device, %s: %s", show_bytes(bytes).c_str(), std::strerror(errno)));
    }
    void* const shown = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file, 0);
    void* const own = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
    close(file);
    if (shown == MAP_FAILED || own == MAP_FAILED) return {};
    out = static_cast<char*>(shown);
    allocations_[out] = {out, static_cast<char*>(own), bytes};
    used_ += bytes;
    return {};
  }
  void release(char* shown) {
    const std::lock_guard<std::mutex> guard(lock_);
    const auto found = allocations_.find(shown);
    used_ -= found->second.bytes;
    unmap(found->second);
    allocations_.erase(found);
  }
  // Returns the address in the second mapping.
  char* own(const char* device) {
    const std::lock_guard<std::mutex> guard(lock_);
    const HostAllocation& a = std::prev(allocations_.upper_bound(const_cast<char*>(device)))->second;
    return a.own + (device - a.shown);
  }
  void open(const char* shown, bool yes) {
    const std::lock_guard<std::mutex> guard(lock_);
    HostAllocation& a = allocations_.at(const_cast<char*>(shown));
    a.users += yes ? 1 : -1;
    if (a.users == (yes ? 1 : 0)) mprotect(a.shown, a.bytes, yes ? PROT_READ | PROT_WRITE : PROT_NONE);
  }

 private:
  static void unmap(const HostAllocation& a) { munmap(a.shown, a.bytes), munmap(a.own, a.bytes); }
  const uint64_t most_;
  std::mutex lock_;
  uint64_t used_ = 0;
  std::map<char*, HostAllocation> allocations_;
};

// Memory from which copies are allowed.
class PinnedMemory {
 public:
  Status allocate(size_t bytes, char*& out) {
    out = static_cast<char*>(std::aligned_alloc(page, (bytes + page - 1) / page * page));
    if (out == nullptr)
      return Status::error(format("no memory for a buffer of %s for copies to a device", show_bytes(bytes).c_str()));
    add(out, bytes);
    return {};
  }
  void release(char* block) {
    remove(block);
    std::free(block);
  }
  void add(char* begin, size_t bytes) {
    const std::lock_guard<std::mutex> guard(lock_);
    blocks_[begin] = bytes;
  }
  void remove(char* begin) {
    const std::lock_guard<std::mutex> guard(lock_);
    blocks_.erase(begin);
  }
  bool has(const char* at, size_t bytes) {
    const std::lock_guard<std::mutex> guard(lock_);
    const auto after = blocks_.upper_bound(const_cast<char*>(at));
    if (after == blocks_.begin()) return false;
    const auto& [block, size] = *std::prev(after);
    return at + bytes <= block + size;
  }

 private:
  static constexpr size_t page = 4096;
  std::mutex lock_;
  std::map<char*, size_t> blocks_;
};

struct HostParts {
  HostMemory memory;
  std::shared_ptr<PinnedMemory> pinned;  // of all devices
  uint64_t seed;
};

class HostEvent final : public DeviceEvent {
 public:
  struct State {
    std::mutex lock;
    std::condition_variable changed;
    uint64_t recorded = 0, happened = 0;
    Status failed;

    void happen(uint64_t number, const Status& status) {
      const std::lock_guard<std::mutex> guard(lock);
      happened = std::max(happened, number);
      if (failed.ok()) failed = status;
      changed.notify_all();
    }
    Status await(uint64_t number) {
      std::unique_lock<std::mutex> guard(lock);
      changed.wait(guard, [&] { return happened >= number; });
      return failed;
    }
  };
  Status done(bool& out) override {
    const std::lock_guard<std::mutex> guard(state->lock);
    out = state->happened >= state->recorded;
    return out ? state->failed : Status();
  }
  Status wait() override {
    uint64_t number;
    {
      const std::lock_guard<std::mutex> guard(state->lock);
      number = state->recorded;
    }
    return state->await(number);
  }
  std::shared_ptr<State> state = std::make_shared<State>();
};

// A queue with a thread of its own, which does one piece of work after the other. After an error it does nothing but
// let events happen.
class HostQueue final : public DeviceQueue {
 public:
  HostQueue(HostParts& parts, uint64_t number) : parts_(parts), random_(parts.seed * 1000003 + number) {}
  Status start() {
    return works_.start("host-device", [] {}, [this](Work& next) { work(next); });
  }

  Status to_device(char* to, const char* from, const DeviceRows& rows) override {
    HIROBA_TRY(check(from, rows, rows.from));
    put([this, to, from, rows] { return move(parts_.memory.own(to), from, rows); });
    return {};
  }
  Status to_host(char* to, const char* from, const DeviceRows& rows) override {
    HIROBA_TRY(check(to, rows, rows.to));
    put([this, to, from, rows] { return move(to, parts_.memory.own(from), rows); });
    return {};
  }
  Status from_device(char* to, OpenDevice& source, const char* from, size_t bytes) override;
  Status run(KernelRun run) override {
    put([this, run = std::make_shared<KernelRun>(std::move(run))] {
      for (const char* a : run->allocations) parts_.memory.open(a, true);
      const int error = run->function(run->data.data(), run->argument.data(), nullptr);
      for (const char* a : run->allocations) parts_.memory.open(a, false);
      return error == 0 ? Status()
                        : Status::error(format("%s: it has failed, and returned %d", run->what.c_str(), error));
    });
    return {};
  }
  Status record(DeviceEvent& event) override {
    const auto state = static_cast<HostEvent&>(event).state;
    uint64_t number;
    {
      const std::lock_guard<std::mutex> guard(state->lock);
      number = ++state->recorded;
    }
    put([this, state, number] { return state->happen(number, failed_), Status(); }, true);
    return {};
  }
  Status wait(DeviceEvent& event) override {
    const auto state = static_cast<HostEvent&>(event).state;
    uint64_t number;
    {
      const std::lock_guard<std::mutex> guard(state->lock);
      number = state->recorded;
    }
    put([state, number] { return (void)state->await(number), Status(); }, true);
    return {};
  }

 private:
  struct Work {
    std::function<Status()> act;
    bool always;  // after an error, too
  };

  Status check(const char* memory, const DeviceRows& rows, int64_t stride) {
    if (parts_.seed == 0 || parts_.pinned->has(memory, rows.bytes + static_cast<size_t>((rows.rows - 1) * stride)))
      return {};
    return Status::error("a copy between a device and memory that is not pinned");
  }
  static Status move(char* to, const char* from, const DeviceRows& rows) {
    for (int64_t i = 0; i < rows.rows; ++i) std::memcpy(to + i * rows.to, from + i * rows.from, rows.bytes);
    return {};
  }
  void put(std::function<Status()> act, bool always = false) { works_.put({std::move(act), always}); }
  // Lets other queues go first, at random: programs must not rely on the time that something takes.
  void delay() {
    if (parts_.seed == 0) return;
    const uint64_t drawn = random_();
    if (drawn % 4 == 0) usleep(drawn / 4 % 300);
    else if (drawn % 4 == 1) sched_yield();
  }
  void work(Work& next) {
    delay();
    if (!failed_.ok() && !next.always) return;
    const Status status = next.act();
    if (failed_.ok()) failed_ = status;
  }

  HostParts& parts_;
  Status failed_;  // for the thread
  std::minstd_rand random_;
  WorkList<Work> works_;  // the last member, so that it ends first
};

class HostDevice final : public OpenDevice {
 public:
  HostDevice(const DeviceSettings& settings, std::shared_ptr<PinnedMemory> pinned)
      : parts_{HostMemory(settings.host_memory), std::move(pinned), settings.seed} {}
  Status enter() override { return {}; }
  Status allocate(size_t bytes, char*& out) override { return parts_.memory.allocate(bytes, out); }
  void release(char* allocation) override { parts_.memory.release(allocation); }
  Status allocate_pinned(size_t bytes, char*& out) override { return parts_.pinned->allocate(bytes, out); }
  void release_pinned(char* allocation) override { parts_.pinned->release(allocation); }
  void open(const char* allocation, bool yes) override { parts_.memory.open(allocation, yes); }
  bool pin(char* begin, size_t bytes) override { return parts_.pinned->add(begin, bytes), true; }
  void unpin(char* begin) override { parts_.pinned->remove(begin); }
  char* own(const char* device) { return parts_.memory.own(device); }
  char* window(const char* device) override { return parts_.seed != 0 ? nullptr : parts_.memory.own(device); }
  Status make_queue(std::unique_ptr<DeviceQueue>& out) override {
    auto queue = std::make_unique<HostQueue>(parts_, ++queues_);
    HIROBA_TRY(queue->start());
    out = std::move(queue);
    return {};
  }
  Status make_event(std::unique_ptr<DeviceEvent>& out) override {
    out = std::make_unique<HostEvent>();
    return {};
  }

 private:
  HostParts parts_;
  uint64_t queues_ = 0;
};

Status HostQueue::from_device(char* to, OpenDevice& source, const char* from, size_t bytes) {
  put([this, to, &source, from, bytes] {
    return move(parts_.memory.own(to), static_cast<HostDevice&>(source).own(from), {bytes, 1, 0, 0});
  });
  return {};
}

class HostBackend final : public DeviceBackend {
 public:
  explicit HostBackend(const DeviceSettings& settings) : settings_(settings) {}
  const char* name() const override { return "host"; }
  DeviceKind kind() const override { return DeviceKind::host; }
  Status find(std::vector<DeviceDescription>& out) override {
    for (int i = 0; i < std::max(settings_.count, 1); ++i)
      out.push_back({"threads of this processor", "memory", i, -1, settings_.host_memory});
    return {};
  }
  Status open(int /*number*/, std::unique_ptr<OpenDevice>& out) override {
    out = std::make_unique<HostDevice>(settings_, pinned_);
    return {};
  }

 private:
  const DeviceSettings settings_;
  const std::shared_ptr<PinnedMemory> pinned_ = std::make_shared<PinnedMemory>();
};

}  // namespace

std::unique_ptr<DeviceBackend> make_host_backend(const DeviceSettings& settings) {
  return std::make_unique<HostBackend>(settings);
}

}  // namespace hiroba
