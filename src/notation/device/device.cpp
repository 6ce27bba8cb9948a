// The C entry points of device.h: they translate arguments for the floor of devices, and end the job on its errors.
#define HIROBA_NO_PLACES
#include "device.h"

#include <cstring>

#include "base/log.hpp"
#include "base/text.hpp"
#include "notation/collective/collective_process.hpp"
#include "notation/device/device_process.hpp"
#include "process/process.hpp"

#define DEVICE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using hiroba::Array;
using hiroba::CheckedCall;
using hiroba::DeviceAccess;
using hiroba::DeviceKernel;
using hiroba::devices;
using hiroba::Devices;
using hiroba::DeviceSection;
using hiroba::DeviceStream;
using hiroba::Memory;
using hiroba::Request;
using hiroba::Status;

static_assert(static_cast<int>(hiroba::DeviceKind::host) == HIROBA_DEVICE_HOST &&
              static_cast<int>(hiroba::DeviceKind::cuda) == HIROBA_DEVICE_CUDA);

hiroba::DeviceSurroundings around(Memory& memory) {
  hiroba::DeviceSurroundings out;
  out.rank = memory.job().rank;
  out.check = memory.checking();
  out.name_of = [&memory](const void* at) {
    const Array* const array = memory.arrays().at(at);
    return array == nullptr ? std::string("private memory")
                            : element_name(*array, static_cast<const char*>(at) - array->data);
  };
  out.array_of = [&memory](const void* at) {
    const Array* const array = memory.arrays().at(at);
    return array == nullptr ? std::string("private memory") : std::string(array->name);
  };
  // An access to a page that is not fetched in advance fetches it, so an error here is none of the program.
  out.prefetch = [&memory](const void* at, size_t bytes) {
    if (memory.arrays().at(at) != nullptr) (void)memory.preloads().start_bytes(at, bytes);
  };
  out.changes = [&memory] { return memory.arrays().changes(); };
  // With several nodes, notices track the accesses to memory of this one; option check does always.
  if (memory.job().nnodes == 1 && !memory.checking())
    out.steady = [&memory](const char* at, char*& begin, char*& end) {
      const Array* const array = memory.arrays().at(at);
      if (array == nullptr || array->is_heap || array->parts.stride != 0) return false;
      begin = array->data, end = begin + array->distribution.bytes();
      return true;
    };
  const hiroba::Job& job = memory.job();
  const int first = job.first_rank_of(job.node);
  out.domains.clear();
  for (int i = 0; i < job.ranks_on(job.node); ++i) out.domains.push_back(memory.affinity().domain_of(first + i));
  out.index = job.rank - first;
  return out;
}

class DeviceModel final : public hiroba::Model {
 public:
  Devices devices;

  Status start(Memory& memory, const hiroba::Options& options) override {
    hiroba::DeviceSettings settings;
    HIROBA_TRY(hiroba::DeviceSettings::from_options(options, settings));
    devices.start(settings, around(memory));
    return {};
  }
  Status before_barrier() override { return devices.leave_memory(); }
  Status end_work(const char* /*call*/) override { return devices.leave_memory(); }
  Status finish() override { return devices.finish(); }
  Status stop(const char* /*ends_by*/) override { return devices.stop(), Status(); }
  void report() const override {
    if (!devices.used() || !hiroba::process_memory("exit").times().shown) return;
    const Devices::Moved moved = devices.moved();
    hiroba::log_line(
        "devices: %s preloaded, %s found unchanged, %s overloaded, %s of these without buffers, %s forwarded",
        hiroba::show_bytes(moved.preloaded).c_str(), hiroba::show_bytes(moved.unchanged).c_str(),
        hiroba::show_bytes(moved.overloaded).c_str(), hiroba::show_bytes(moved.directly).c_str(),
        hiroba::show_bytes(moved.forwarded).c_str());
  }
};

DeviceStream& stream_of(const CheckedCall& call, hiroba_stream stream) {
  if (stream == nullptr) call.fail("the stream is NULL; hiroba_stream_create returns one");
  return *reinterpret_cast<DeviceStream*>(stream);
}

void give(const CheckedCall& call, std::shared_ptr<Request> done, hiroba_request* request) {
  if (request != nullptr) *request = {hiroba::collective_of(call.name()).requests().give(std::move(done))};
}

}  // namespace

Devices& hiroba::devices() { return used_instance<DeviceModel>().devices; }
DeviceSection hiroba::section_of(const CheckedCall& call, const hiroba_section& section) {
  if (section.dims < 0 || section.dims > HIROBA_SECTION_DIMS)
    call.fail(hiroba::format("a section with %d dimensions; at most %d", section.dims, HIROBA_SECTION_DIMS));
  if (static_cast<int64_t>(section.bytes) < 0) call.fail("a section with a negative number of bytes");
  DeviceSection out(section.address, section.bytes);
  for (int d = 0; d < section.dims; ++d) {
    if (section.count[d] < 0)
      call.fail(hiroba::format("a section with %ld blocks along dimension %d; at least 0", section.count[d], d));
    out.add(section.count[d], section.stride[d]);
  }
  if (out.empty()) return out;
  const hiroba::Arrays& arrays = hiroba::process_memory(call.name()).arrays();
  const Array* const array = arrays.at(out.address + out.bounds().low);
  const char* const last = out.address + out.bounds().high - 1;
  if (array != arrays.at(last)) call.fail("the section is not all in one array: it ends at " + arrays.explain(last));
  return out;
}

std::vector<DeviceAccess> hiroba::accesses_of(const CheckedCall& call, const hiroba_kernel& kernel,
                                              const hiroba_access* accesses, int count) {
  if (count < 0) call.fail(format("%d accesses; at least 0", count));
  std::vector<DeviceAccess> out;
  for (int i = 0; i < count; ++i) {
    const int mode = accesses[i].mode;
    if (mode != HIROBA_IN && mode != HIROBA_OUT && mode != HIROBA_INOUT)
      call.fail(
          format("access %d of kernel %s has mode %d; HIROBA_IN, HIROBA_OUT or HIROBA_INOUT", i, kernel.name, mode));
    out.push_back({section_of(call, accesses[i].section), (mode & HIROBA_IN) != 0, (mode & HIROBA_OUT) != 0});
  }
  return out;
}

hiroba::Model& hiroba::device_model() { return instance<DeviceModel>(); }

DEVICE_EXPORT int hiroba_device_count(void) {
  const CheckedCall call("hiroba_device_count");
  int count = 0;
  call.require(devices().count(count));
  return count;
}

DEVICE_EXPORT void hiroba_device_get(int device, hiroba_device_properties* out) {
  const CheckedCall call("hiroba_device_get");
  Devices::Properties p;
  call.require(devices().properties(device, p));
  *out = {};
  std::strncpy(out->name, p.description.name.c_str(), sizeof out->name - 1);
  std::strncpy(out->link, p.description.link.c_str(), sizeof out->link - 1);
  out->kind = static_cast<int>(p.kind), out->number = p.description.number, out->domain = p.description.domain;
  out->memory = p.description.memory, out->cache = p.cache, out->used = p.used;
}

DEVICE_EXPORT hiroba_stream hiroba_stream_create(int device) {
  const CheckedCall call("hiroba_stream_create");
  DeviceStream* stream = nullptr;
  call.require(devices().make_stream(device, stream));
  return reinterpret_cast<hiroba_stream>(stream);
}

DEVICE_EXPORT void hiroba_stream_free(hiroba_stream* stream) {
  const CheckedCall call("hiroba_stream_free");
  if (*stream == nullptr) return;
  call.require(devices().free_stream(stream_of(call, *stream)));
  *stream = nullptr;
}

DEVICE_EXPORT void hiroba_stream_wait(hiroba_stream stream) {
  const CheckedCall call("hiroba_stream_wait");
  std::shared_ptr<Request> request;
  call.require(devices().mark(stream_of(call, stream), hiroba::place(), request));
  call.require(hiroba::collective_of(call.name()).requests().await(*request, call.call()));
}

DEVICE_EXPORT void hiroba_stream_after(hiroba_stream later, hiroba_stream earlier) {
  const CheckedCall call("hiroba_stream_after");
  if (later == earlier) return;
  call.require(devices().order(stream_of(call, later), stream_of(call, earlier)));
}

DEVICE_EXPORT void hiroba_device_preload(const hiroba_section* section, hiroba_stream stream, hiroba_request* request) {
  const CheckedCall call("hiroba_device_preload");
  std::shared_ptr<Request> done;
  call.require(devices().preload(section_of(call, *section), stream_of(call, stream), hiroba::place(), done));
  give(call, std::move(done), request);
}

DEVICE_EXPORT void hiroba_device_overload(const hiroba_section* section, hiroba_stream stream,
                                          hiroba_request* request) {
  const CheckedCall call("hiroba_device_overload");
  std::shared_ptr<Request> done;
  call.require(devices().overload(section_of(call, *section), stream_of(call, stream), hiroba::place(), done));
  give(call, std::move(done), request);
}

DEVICE_EXPORT void hiroba_device_forward(const hiroba_section* section, hiroba_stream to, hiroba_stream from) {
  const CheckedCall call("hiroba_device_forward");
  call.require(
      devices().forward(section_of(call, *section), stream_of(call, to), stream_of(call, from), hiroba::place()));
}

DEVICE_EXPORT void* hiroba_device_hold(const hiroba_section* section, hiroba_stream stream) {
  const CheckedCall call("hiroba_device_hold");
  void* out = nullptr;
  call.require(devices().hold(section_of(call, *section), stream_of(call, stream), hiroba::place(), out));
  return out;
}

DEVICE_EXPORT void hiroba_device_drop(const hiroba_section* section, hiroba_stream stream) {
  const CheckedCall call("hiroba_device_drop");
  call.require(devices().drop(section_of(call, *section), stream_of(call, stream)));
}

DEVICE_EXPORT void hiroba_device_launch(const hiroba_kernel* kernel, hiroba_stream stream,
                                        const hiroba_access* accesses, int count, const void* argument, size_t bytes) {
  const CheckedCall call("hiroba_device_launch");
  if (kernel == nullptr || kernel->name == nullptr) call.fail("a kernel without a name");
  const std::vector<DeviceAccess> all = accesses_of(call, *kernel, accesses, count);
  const DeviceKernel translated = {kernel->name, kernel->host, kernel->cuda};
  call.require(devices().launch(translated, stream_of(call, stream), all, argument, bytes, hiroba::place()));
}
