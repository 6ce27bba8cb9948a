// A thread that does what it is given, one piece of work after the other.
//
// Owner: the object whose work it is. put() is thread-safe; start() and stop() are for one thread.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "base/status.hpp"
#include "base/thread.hpp"

namespace hiroba {

template <typename Work>
class WorkList {
 public:
  ~WorkList() { stop(); }
  // begin() is the first thing that the thread does.
  Status start(const char* name, std::function<void()> begin, std::function<void(Work&)> act) {
    begin_ = std::move(begin), act_ = std::move(act);
    HIROBA_TRY(start_thread(
        thread_, name, [](void* self) -> void* { return static_cast<WorkList*>(self)->run(), nullptr; }, this));
    started_ = true;
    return {};
  }
  void put(Work work) { add(std::move(work)); }
  // Ends the thread, after all work.
  void stop() {
    if (!started_) return;
    add(std::nullopt);
    pthread_join(thread_, nullptr);
    started_ = false;
  }

 private:
  void add(std::optional<Work> work) {
    const std::lock_guard<std::mutex> guard(lock_);
    works_.push_back(std::move(work));
    changed_.notify_one();
  }
  void run() {
    begin_();
    for (;;) {
      std::optional<Work> next;
      {
        std::unique_lock<std::mutex> guard(lock_);
        changed_.wait(guard, [this] { return !works_.empty(); });
        next = std::move(works_.front());
        works_.pop_front();
      }
      if (!next) return;
      act_(*next);
    }
  }

  std::function<void()> begin_;
  std::function<void(Work&)> act_;
  pthread_t thread_ = {};
  bool started_ = false;
  std::mutex lock_;  // guards the rest
  std::condition_variable changed_;
  std::deque<std::optional<Work>> works_;  // no work: the end
};

}  // namespace hiroba
