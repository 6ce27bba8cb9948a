// A stream: a thread that carries out what the program calls with it, one call after the other, and puts it into a
// queue of the device. So a call returns at once, although a preload has first to fetch and to pack what it moves.
//
// Owner: DeviceParts. put() and finish() are for one thread at a time; the rest says which thread it is for.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/backend.hpp"
#include "device/order.hpp"
#include "device/work_list.hpp"

namespace hiroba {

// One call that was put into a stream. Thread-safe.
class DeviceCall {
 public:
  // Does not block.
  Status done(bool& out);
  Status wait();
  // Waits until the thread of the stream has carried it out; the device may go on.
  void wait_until_issued();
  void issue(Status status, const std::string& last_kernel);

  std::unique_ptr<DeviceEvent> event;  // happens when all is done that the thread has left to the device; may be null
  DeviceClock clock;                   // of the call

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  std::atomic<bool> issued_{false};
  Status failed_;  // these two are set before issued_
  std::string last_kernel_;
};
using DeviceCallPtr = std::shared_ptr<DeviceCall>;

class DeviceStream {
 public:
  // Pinned buffers for pieces, made at the first use; some for each thread that copies.
  static constexpr int buffers_of_thread = 4;
  struct Buffer {
    char* memory = nullptr;
    std::unique_ptr<DeviceEvent> event;
  };

  // `device_name` is for messages: "0 (NVIDIA H200) of rank 1".
  DeviceStream(OpenDevice& device, int device_number, const std::string& device_name, size_t number)
      : device_(device),
        device_number_(device_number),
        number_(number),
        last_kernel_("none, on device " + device_name) {}
  ~DeviceStream();
  Status start();
  // Ends the thread, after all calls.
  void stop();

  // Once the thread comes to the call, act() runs in it; an error makes all later calls fail, too.
  using Act = std::function<Status()>;
  void put(DeviceCallPtr call, Act act);
  // Puts a call that is done when all before it has been done by the device.
  Status mark(const DeviceCallPtr& call);
  // Waits until all is done.
  Status finish();

  OpenDevice& device() const { return device_; }
  int device_number() const { return device_number_; }
  size_t number() const { return number_; }
  // For the thread of the stream.
  DeviceQueue& queue() const { return *queue_; }
  Status wait_for_device() const;  // for what the thread has left to it
  Status buffer(int worker, int which, size_t bytes, Buffer*& out);
  // Errors of the device come later than the call that has caused them: names the last kernel.
  Status explained(Status status) const;
  void set_last_kernel(std::string what) { last_kernel_ = std::move(what); }

 private:
  struct Entry {
    DeviceCallPtr call;
    Act act;
  };
  void work(Entry& next);
  OpenDevice& device_;
  const int device_number_;
  const size_t number_;
  std::unique_ptr<DeviceQueue> queue_;
  WorkList<Entry> works_;
  Status failed_;               // for the thread
  std::string last_kernel_;     // for the thread
  std::mutex buffers_lock_;     // guards the next member
  std::deque<Buffer> buffers_;  // references to them stay valid when it grows
};

}  // namespace hiroba
