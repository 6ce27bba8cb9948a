#include <algorithm>

#include "base/text.hpp"
#include "base/wait.hpp"
#include "device/moves.hpp"
#include "device/parts.hpp"
#include "section/walk.hpp"

namespace hiroba {

namespace {

using Guard = std::lock_guard<std::mutex>;

// A call that the program can wait for. Once it has, later calls come after it.
class DeviceRequest final : public Request {
 public:
  DeviceRequest(DeviceParts& parts, DeviceCallPtr call, std::string name, int device)
      : parts_(parts), call_(std::move(call)), name_(std::move(name)), device_(device) {}
  Status advance(bool& complete) override {
    if (call_ != nullptr) HIROBA_TRY(call_->done(complete));
    complete = complete || call_ == nullptr;
    if (!complete || call_ == nullptr) return {};
    const Guard guard(parts_.lock);
    HIROBA_TRY(parts_.order.told());
    parts_.order.waited(call_->clock);
    return {};
  }
  // Waits a little: the waits of this library for other ranks look too seldom.
  Status hasten(bool& complete) override {
    constexpr double most = 2e-3;
    const double begin = seconds_now();
    do {
      HIROBA_TRY(advance(complete));
      if (!complete) sched_yield();
    } while (!complete && seconds_now() - begin < most);
    return {};
  }
  std::string missing() const override { return format("device %d has not done it", device_); }
  std::string name() const override { return name_; }

 private:
  DeviceParts& parts_;
  const DeviceCallPtr call_;  // null: nothing to do
  const std::string name_;
  const int device_;
};

std::string name_of(const char* call, const char* place) {
  return *place == '\0' ? call : format("%s at %s", call, place);
}

// A section of a call on its device.
struct Found {
  DeviceCopyPtr copy;
  DeviceSection host, there;
};

class Calls {
 public:
  Calls(DeviceParts& parts, DeviceStream& stream, const char* place, bool of_task = false)
      : parts_(parts), stream_(stream), place_(place), number_(stream.device_number()), of_task_(of_task) {}

  Status begin() {
    HIROBA_TRY(parts_.drop_freed());
    HIROBA_TRY(parts_.device(number_, device_));
    call_ = std::make_shared<DeviceCall>();
    call_->clock = parts_.order.begin(stream_.number());
    return device_->open->make_event(call_->event);
  }
  DeviceUse use_of(DeviceUse::Kind kind, const Found& found, const char* kernel = "") const {
    DeviceUse use = {kind, found.host, number_, place_, kernel, found.copy.get()};
    use.of_task = of_task_;
    return use;
  }
  Status use(const DeviceUse& use) {
    if (of_task_ && use.kind == DeviceUse::Kind::preload)
      for (const size_t stream : parts_.order.preloads_before(use, stream_.number()))
        for (const auto& other : parts_.streams)
          if (other->number() == stream) HIROBA_TRY(parts_.order_streams(stream_, *other));
    return parts_.order.add(use, stream_.number(), nothing_);
  }
  // True if the call is a mistake that the next one tells.
  bool nothing() const { return nothing_; }

  // Without `make` there may be no copy.
  Status find(const DeviceSection& section, bool make, Found& out) { return find(number_, section, make, out); }
  // Adds what this call reads on the device of another stream.
  Status use_source(const DeviceStream& source, const DeviceSection& section, Found& out) {
    HIROBA_TRY(find(source.device_number(), section, false, out));
    DeviceUse use = use_of(DeviceUse::Kind::reads, out);
    use.device = source.device_number();
    HIROBA_TRY(parts_.order.add(use, stream_.number(), nothing_));
    return nothing_ ? Status() : check_fresh(out);
  }
  // A section that is read there is what the program sees, unless a kernel has written it in another copy.
  Status check_fresh(const Found& found) const {
    if (found.copy->stale.empty()) return {};
    return Status::error(
        format("%s on device %d is out of date: %s has written some of it in another copy; overload "
               "that, and preload this again",
               parts_.describe(found.host).c_str(), number_, found.copy->stale.c_str()));
  }
  void now_fresh(const Found& found) const {
    if (covers(found.host, found.copy->section)) found.copy->stale.clear();
  }
  void others_are_stale(const Found& found, const std::string& by) const {
    device_->copies->for_each([&](DeviceCopy& copy) {
      if (&copy != found.copy.get() && overlap(copy.section, found.host)) copy.stale = by;
    });
  }
  DeviceMove move_of(const Found& found) const {
    return {stream_, parts_.helpers, parts_.pins, parts_.settings.piece, found.host, found.there, *found.copy, place_};
  }
  void put(DeviceStream::Act act) {
    stream_.put(call_, [act = std::move(act), call = call_.get(), &stream = stream_]() -> Status {
      HIROBA_TRY(act());
      return stream.explained(stream.queue().record(*call->event));
    });
  }
  std::shared_ptr<Request> request(const char* name) const {
    return std::make_shared<DeviceRequest>(parts_, nothing_ ? nullptr : call_, name_of(name, place_), number_);
  }
  UsedDevice& device() const { return *device_; }

 private:
  Status find(int number, const DeviceSection& section, bool make, Found& out) {
    UsedDevice* device = nullptr;
    HIROBA_TRY(parts_.device(number, device));
    out.host = simplified(section);
    out.copy = device->copies->find(out.host, out.there);
    if (out.copy == nullptr && make) {
      HIROBA_TRY(device->copies->make(out.host, place_, out.copy));
      out.there = out.host.dense(out.copy->device);
    }
    if (out.copy == nullptr && device->copies->has_parts(out.host))
      return Status::error(format("%s: device %d has some of it, but not in one copy; preload it as one section",
                                  parts_.describe(out.host).c_str(), number));
    if (out.copy != nullptr) out.copy->add_user(stream_);
    return {};
  }

  DeviceParts& parts_;
  DeviceStream& stream_;
  const char* const place_;
  const int number_;
  const bool of_task_;
  UsedDevice* device_ = nullptr;
  DeviceCallPtr call_;
  bool nothing_ = false;
};

// Other libraries may write the section from now on, so it stays where it is.
Status hold_copy(DeviceParts& parts, const DeviceSection& section, DeviceStream& stream, const char* place,
                 Found& found) {
  if (section.empty()) return Status::error("a section without bytes has no address on a device");
  Calls call(parts, stream, place);
  HIROBA_TRY(call.begin());
  HIROBA_TRY(call.find(section, true, found));
  DeviceUse use = call.use_of(DeviceUse::Kind::writes, found, "of another library");
  use.written_back = true;
  HIROBA_TRY(call.use(use));
  found.copy->held = true;
  call.put([] { return Status(); });
  return {};
}

Status copy_between(DeviceQueue& queue, const DeviceSection& to, OpenDevice& source, const DeviceSection& from) {
  Walk walk;
  pair_up(to, from, to.bytes, walk);
  Status status;
  walk.for_each_block([&](int64_t at, int64_t at_source) {
    if (status.ok()) status = queue.from_device(to.address + at, source, from.address + at_source, walk.block);
  });
  return status;
}

}  // namespace

Devices::Devices() : parts_(std::make_unique<DeviceParts>()) {}
Devices::~Devices() { stop(); }

void Devices::start(const DeviceSettings& settings, DeviceSurroundings surroundings) {
  parts_->settings = settings;
  parts_->around = std::move(surroundings);
  parts_->pins.start(parts_->around.steady);
}

bool Devices::used() const { return !parts_->streams.empty(); }

Status Devices::finish() {
  const Guard guard(parts_->lock);
  HIROBA_TRY(parts_->order.told());
  for (const auto& stream : parts_->streams) HIROBA_TRY(stream->finish());
  return {};
}

Status Devices::leave_memory() {
  const Guard guard(parts_->lock);
  HIROBA_TRY(parts_->order.told());
  for (const auto& stream : parts_->streams) {
    const auto call = std::make_shared<DeviceCall>();
    stream->put(call, [] { return Status(); });
    HIROBA_TRY(call->wait());
  }
  return {};
}

void Devices::stop() {
  const Guard guard(parts_->lock);
  parts_->streams.clear();
  parts_->helpers.stop();
  parts_->pins.release_all();
  for (const UsedDevice& used : parts_->devices)
    if (used.copies != nullptr) used.copies->drop_all();
  parts_->devices.clear();
}

Status Devices::count(int& out) {
  const Guard guard(parts_->lock);
  HIROBA_TRY(parts_->find_devices());
  out = static_cast<int>(parts_->devices.size());
  return {};
}

Status Devices::properties(int device, Properties& out) {
  const Guard guard(parts_->lock);
  UsedDevice* used = nullptr;
  HIROBA_TRY(parts_->device(device, used));
  out = {used->description, parts_->backend->kind(), used->cache, used->copies->used()};
  return {};
}

Status Devices::make_stream(int device, DeviceStream*& out) {
  const Guard guard(parts_->lock);
  return parts_->make_stream(device, out);
}

Status Devices::some_stream(int device, DeviceStream*& out) {
  const Guard guard(parts_->lock);
  UsedDevice* used = nullptr;
  HIROBA_TRY(parts_->device(device, used));
  constexpr size_t most = 4;
  if (used->shared.size() < most) {
    HIROBA_TRY(parts_->make_stream(device, out));
    used->shared.push_back(out);
  }
  out = used->shared[used->next++ % used->shared.size()];
  return {};
}

Status Devices::free_stream(DeviceStream& stream) {
  const Guard guard(parts_->lock);
  HIROBA_TRY(parts_->order.told());
  HIROBA_TRY(stream.finish());
  parts_->order.waited(parts_->order.begin(stream.number()));
  for (const UsedDevice& used : parts_->devices)
    if (used.copies != nullptr) used.copies->for_each([&](DeviceCopy& copy) { std::erase(copy.users, &stream); });
  std::erase_if(parts_->streams, [&](const auto& s) { return s.get() == &stream; });
  return {};
}

Status Devices::mark(DeviceStream& stream, const char* place, std::shared_ptr<Request>& out) {
  const Guard guard(parts_->lock);
  HIROBA_TRY(parts_->order.told());
  Calls call(*parts_, stream, place);
  HIROBA_TRY(call.begin());
  call.put([] { return Status(); });
  out = call.request("hiroba_stream_wait");
  return {};
}

Status Devices::order(DeviceStream& later, DeviceStream& earlier) {
  const Guard guard(parts_->lock);
  HIROBA_TRY(parts_->order.told());
  return parts_->order_streams(later, earlier);
}

Status Devices::join(const DeviceSection& section, DeviceStream& stream, const char* place) {
  const Guard guard(parts_->lock);
  HIROBA_TRY(parts_->order.told());
  HIROBA_TRY(parts_->drop_freed());
  UsedDevice* used = nullptr;
  HIROBA_TRY(parts_->device(stream.device_number(), used));
  return used->copies->join(simplified(section), place);
}

Status Devices::preload(const DeviceSection& section, DeviceStream& stream, const char* place,
                        std::shared_ptr<Request>& out, bool of_task) {
  const Guard guard(parts_->lock);
  if (section.empty()) return out = std::make_shared<DeviceRequest>(*parts_, nullptr, "", 0), Status();
  Calls call(*parts_, stream, place, of_task);
  HIROBA_TRY(call.begin());
  Found found;
  HIROBA_TRY(call.find(section, true, found));
  HIROBA_TRY(call.use(call.use_of(DeviceUse::Kind::preload, found)));
  call.now_fresh(found);
  const bool held = found.copy->held;  // other libraries may write there
  call.put([parts = parts_.get(), move = call.move_of(found), copy = found.copy, held, of_task]() -> Status {
    if (!of_task) for_each_block(move.host, [&](const char* at, size_t bytes) { parts->around.prefetch(at, bytes); });
    if (held) copy->changed(move.host, true);
    DeviceMoved moved;
    HIROBA_TRY(move.stream.explained(move_to_device(move, moved)));
    parts->preloaded += moved.bytes, parts->unchanged += move.host.total() - moved.bytes;
    parts->directly += moved.directly;
    return {};
  });
  out = call.request("hiroba_device_preload");
  return {};
}

Status Devices::overload(const DeviceSection& section, DeviceStream& stream, const char* place,
                         std::shared_ptr<Request>& out) {
  const Guard guard(parts_->lock);
  if (section.empty()) return out = std::make_shared<DeviceRequest>(*parts_, nullptr, "", 0), Status();
  Calls call(*parts_, stream, place);
  HIROBA_TRY(call.begin());
  Found found;
  HIROBA_TRY(call.find(section, false, found));
  HIROBA_TRY(call.use(call.use_of(DeviceUse::Kind::overload, found)));
  out = call.request("hiroba_device_overload");
  if (call.nothing()) return {};
  HIROBA_TRY(call.check_fresh(found));
  call.put([parts = parts_.get(), move = call.move_of(found), copy = found.copy]() -> Status {
    if (parts->around.check) HIROBA_TRY(check_unchanged(move));
    DeviceMoved moved;
    HIROBA_TRY(move.stream.explained(move_to_host(move, moved)));
    parts->overloaded += moved.bytes, parts->directly += moved.directly;
    return {};
  });
  return {};
}

Status Devices::launch(const DeviceKernel& kernel, DeviceStream& stream, std::span<const DeviceAccess> accesses,
                       const void* argument, size_t bytes, const char* place, bool of_task) {
  const Guard guard(parts_->lock);
  Calls call(*parts_, stream, place, of_task);
  HIROBA_TRY(call.begin());
  KernelRun run;
  run.function = parts_->backend->kind() == DeviceKind::host ? kernel.host : kernel.cuda;
  const std::string name = DeviceUse{DeviceUse::Kind::writes, {}, 0, place, kernel.name}.what();
  if (run.function == nullptr)
    return Status::error(format("%s has no function for %s devices", name.c_str(), parts_->backend->name()));
  std::vector<Found> written;
  for (const DeviceAccess& access : accesses) {
    if (access.section.empty()) {
      run.data.push_back(nullptr);
      continue;
    }
    Found found;
    HIROBA_TRY(call.find(access.section, !access.reads, found));
    if (access.reads) HIROBA_TRY(call.use(call.use_of(DeviceUse::Kind::reads, found, kernel.name)));
    if (call.nothing()) return {};
    if (access.reads) HIROBA_TRY(call.check_fresh(found));
    if (access.writes) {
      HIROBA_TRY(call.use(call.use_of(DeviceUse::Kind::writes, found, kernel.name)));
      if (parts_->around.check) HIROBA_TRY(note_content(call.move_of(found), access.reads));
      call.now_fresh(found);
      call.others_are_stale(found, name);
      written.push_back(found);
    }
    run.data.push_back(found.there.address);
    run.allocations.push_back(found.copy->device);
  }
  const char* const begin = static_cast<const char*>(argument);
  run.argument.assign(begin, begin + bytes);
  run.what = format("%s, on device %s", name.c_str(), parts_->name_of_device(stream.device_number()).c_str());
  call.put([&stream, run = std::make_shared<KernelRun>(std::move(run)), written = std::move(written),
            wait = kernel.by_other_streams]() -> Status {
    if (wait) HIROBA_TRY(stream.explained(stream.wait_for_device()));
    for (const Found& found : written) found.copy->changed(found.host, true);
    stream.set_last_kernel(run->what);
    return stream.queue().run(std::move(*run));
  });
  return {};
}

Status Devices::forward(const DeviceSection& section, DeviceStream& to, DeviceStream& from, const char* place) {
  const Guard guard(parts_->lock);
  HIROBA_TRY(parts_->order.told());
  if (&to != &from) HIROBA_TRY(parts_->order_streams(to, from));
  if (section.empty() || to.device_number() == from.device_number()) return {};
  Calls call(*parts_, to, place);
  HIROBA_TRY(call.begin());
  Found source, target;
  HIROBA_TRY(call.use_source(from, section, source));
  if (call.nothing()) return {};
  HIROBA_TRY(call.find(section, true, target));
  DeviceUse use = call.use_of(DeviceUse::Kind::writes, target);
  use.written_back = true;
  HIROBA_TRY(call.use(use));
  call.now_fresh(target);
  call.others_are_stale(target, use.what());
  call.put([parts = parts_.get(), source, target, &to, &from]() -> Status {
    target.copy->changed(target.host, true);
    parts->forwarded += target.host.total();
    return copy_between(to.queue(), target.there, from.device(), source.there);
  });
  return {};
}

Status Devices::hold(const DeviceSection& section, DeviceStream& stream, const char* place, void*& out) {
  const Guard guard(parts_->lock);
  Found found;
  HIROBA_TRY(hold_copy(*parts_, section, stream, place, found));
  out = found.there.address;
  return {};
}

Status Devices::lend(const DeviceSection& section, DeviceStream& stream, const char* place, Lent& out) {
  const Guard guard(parts_->lock);
  Found found;
  HIROBA_TRY(hold_copy(*parts_, section, stream, place, found));
  HIROBA_TRY(stream.finish());
  UsedDevice* used = nullptr;
  HIROBA_TRY(parts_->device(stream.device_number(), used));
  if (!found.copy->find(section, out.there))
    return Status::error(format("%s: its dimensions go backwards, or step into one another; a tensor is of a box",
                                parts_->describe(section).c_str()));
  out.kind = parts_->backend->kind(), out.number = used->description.number;
  ++found.copy->lent;
  used->open->open(found.copy->device, true);
  // The last one may end after the devices have: then the copy has no memory there.
  out.use = {nullptr, [parts = parts_.get(), copy = found.copy, device = used->open.get()](void*) {
               const Guard ending(parts->lock);
               --copy->lent;
               if (copy->device != nullptr) device->open(copy->device, false);
             }};
  return {};
}

void* Devices::native(const DeviceStream& stream) { return stream.queue().native(); }

Status Devices::drop(const DeviceSection& section, DeviceStream& stream) {
  const Guard guard(parts_->lock);
  HIROBA_TRY(parts_->order.told());
  HIROBA_TRY(stream.finish());
  UsedDevice* used = nullptr;
  HIROBA_TRY(parts_->device(stream.device_number(), used));
  const DeviceSection simple = simplified(section);
  DeviceSection there;
  const DeviceCopyPtr whole = used->copies->find(simple, there);
  if (whole != nullptr && !covers(simple, whole->section))
    return Status::error(format("%s is a part of a larger copy, which was made at %s; drop that section",
                                parts_->describe(simple).c_str(), whole->place.c_str()));
  return used->copies->drop(simple);
}

Devices::Moved Devices::moved() const {
  return {parts_->preloaded, parts_->unchanged, parts_->overloaded, parts_->forwarded, parts_->directly};
}

}  // namespace hiroba
