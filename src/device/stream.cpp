#include "device/stream.hpp"

namespace hiroba {

namespace {

Status explained_by(Status status, const std::string& last_kernel) {
  if (status.ok() || status.message().find(last_kernel) != std::string::npos) return status;
  return Status::error(status.message() + "; the last kernel before that: " + last_kernel);
}

}  // namespace

Status DeviceCall::done(bool& out) {
  out = issued_.load(std::memory_order_acquire);
  if (!out) return {};
  if (!failed_.ok()) return failed_;
  return event == nullptr ? Status() : explained_by(event->done(out), last_kernel_);
}

Status DeviceCall::wait() {
  wait_until_issued();
  return !failed_.ok() || event == nullptr ? failed_ : explained_by(event->wait(), last_kernel_);
}

void DeviceCall::wait_until_issued() {
  std::unique_lock<std::mutex> guard(lock_);
  changed_.wait(guard, [this] { return issued_.load(std::memory_order_relaxed); });
}

void DeviceCall::issue(Status status, const std::string& last_kernel) {
  const std::lock_guard<std::mutex> guard(lock_);
  failed_ = std::move(status);
  last_kernel_ = last_kernel;
  issued_.store(true, std::memory_order_release);
  changed_.notify_all();
}

DeviceStream::~DeviceStream() { stop(); }

Status DeviceStream::start() {
  HIROBA_TRY(device_.make_queue(queue_));
  return works_.start("device-stream", [this] { failed_ = device_.enter(); }, [this](Entry& next) { work(next); });
}

void DeviceStream::stop() {
  if (queue_ == nullptr) return;
  works_.stop();
  queue_.reset();  // its work ends before the buffers do
  for (const Buffer& buffer : buffers_)
    if (buffer.memory != nullptr) device_.release_pinned(buffer.memory);
  buffers_.clear();
}

void DeviceStream::put(DeviceCallPtr call, Act act) { works_.put({std::move(call), std::move(act)}); }

Status DeviceStream::mark(const DeviceCallPtr& call) {
  HIROBA_TRY(device_.make_event(call->event));
  put(call, [this, call = call.get()] { return queue_->record(*call->event); });
  return {};
}

Status DeviceStream::finish() {
  const auto call = std::make_shared<DeviceCall>();
  HIROBA_TRY(mark(call));
  return call->wait();
}

Status DeviceStream::buffer(int worker, int which, size_t bytes, Buffer*& out) {
  const size_t index = size_t{buffers_of_thread} * static_cast<size_t>(worker) + static_cast<size_t>(which);
  const std::lock_guard<std::mutex> guard(buffers_lock_);
  if (buffers_.size() <= index) buffers_.resize(index + 1);
  out = &buffers_[index];
  if (out->memory != nullptr) return {};
  HIROBA_TRY(device_.make_event(out->event));
  return device_.allocate_pinned(bytes, out->memory);
}

Status DeviceStream::wait_for_device() const {
  std::unique_ptr<DeviceEvent> event;
  HIROBA_TRY(device_.make_event(event));
  HIROBA_TRY(queue_->record(*event));
  return event->wait();
}

Status DeviceStream::explained(Status status) const { return explained_by(std::move(status), last_kernel_); }

void DeviceStream::work(Entry& next) {
  if (failed_.ok()) failed_ = next.act();
  next.act = nullptr;  // what it holds ends before the call does
  next.call->issue(failed_, last_kernel_);
}

}  // namespace hiroba
