// Tasks that run on devices: the body starts everything, and the task ends when the device is through with it.
#include <memory>

#include "notation/device/device_process.hpp"
#include "process/process.hpp"

namespace hiroba {

namespace {

// A task whose body has returned.
struct DeviceTask {
  std::shared_ptr<Request> done;
  std::string place;
  void* object;
  void (*destroy)(void*);
  void* held;

  static int poll(void* context) {
    auto* const self = static_cast<DeviceTask*>(context);
    bool complete = false;
    require_at(self->done->advance(complete), self->place.c_str());
    if (!complete) return 1;
    const std::unique_ptr<DeviceTask> now(self);
    now->destroy(now->object);
    hiroba_task_let_go(now->held);
    return 0;
  }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) void hiroba_device_task(int device, const hiroba_kernel* kernel,
                                                                          const hiroba_access* accesses, int count,
                                                                          void* object, void (*destroy)(void*)) {
  const CheckedCall call("hiroba_device_task");
  const std::vector<DeviceAccess> all = accesses_of(call, *kernel, accesses, count);
  DeviceStream* stream = nullptr;
  call.require(devices().some_stream(device, stream));
  std::shared_ptr<Request> done;
  const bool in_task = hiroba_task_inside() != 0;  // then what it names is here
  for (const DeviceAccess& access : all)
    if (access.reads) call.require(devices().preload(access.section, *stream, place(), done, in_task));
  const DeviceKernel translated = {kernel->name, kernel->host, kernel->cuda};
  call.require(
      devices().launch(translated, *stream, all, static_cast<const void*>(&object), sizeof object, place(), in_task));
  for (const DeviceAccess& access : all)
    if (access.writes) call.require(devices().overload(access.section, *stream, place(), done));
  call.require(devices().mark(*stream, place(), done));
  // Option check takes what a body writes for the task's, so it must not end before.
  if (!in_task || process_memory(call.name()).checking()) {
    call.require(collective_of(call.name()).requests().await(*done, call.call()));
    return destroy(object);
  }
  hiroba_task_poll(DeviceTask::poll, new DeviceTask{std::move(done), prefix(), object, destroy, hiroba_task_hold()});
}

}  // namespace hiroba
