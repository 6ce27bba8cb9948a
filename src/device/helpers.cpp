#include "device/helpers.hpp"

#include <algorithm>

#include "base/thread.hpp"

namespace hiroba {

Status Helpers::start(int threads) {
  for (int i = 1; i < threads; ++i) {
    pthread_t thread;
    HIROBA_TRY(start_thread(
        thread, "device-copy", [](void* self) -> void* { return static_cast<Helpers*>(self)->help(), nullptr; }, this));
    threads_.push_back(thread);
  }
  return {};
}

void Helpers::stop() {
  {
    const std::lock_guard<std::mutex> guard(lock_);
    ending_ = true;
    wake_.notify_all();
  }
  for (const pthread_t thread : threads_) pthread_join(thread, nullptr);
  threads_.clear();
}

// Requires lock_, which is not held while a piece is copied.
void Helpers::take(Work& work, int worker, std::unique_lock<std::mutex>& guard) {
  while (work.next < work.count && work.failed.ok()) {
    const size_t piece = work.next++;
    guard.unlock();
    Status status = work.act(worker, piece);
    guard.lock();
    if (!status.ok() && work.failed.ok()) work.failed = std::move(status);
  }
}

void Helpers::help() {
  std::unique_lock<std::mutex> guard(lock_);
  for (;;) {
    const auto open = [](const Work* w) { return w->next < w->count && w->failed.ok(); };
    const auto found = std::find_if(works_.begin(), works_.end(), open);
    if (found == works_.end()) {
      if (ending_) return;
      wake_.wait(guard);
      continue;
    }
    Work& work = **found;
    ++work.busy;
    take(work, work.workers++, guard);
    if (--work.busy == 0) left_.notify_all();
  }
}

Status Helpers::share(size_t count, const Act& act) {
  Work work = {act, count};
  std::unique_lock<std::mutex> guard(lock_);
  if (count > 1 && !threads_.empty()) {
    works_.push_back(&work);
    wake_.notify_all();
  }
  take(work, 0, guard);
  works_.remove(&work);
  left_.wait(guard, [&] { return work.busy == 0; });
  return std::move(work.failed);
}

}  // namespace hiroba
