// Threads that copy pieces of sections together with the thread that asks for it. They sleep while there is nothing to
// copy.
//
// Owner: DeviceParts. Thread-safe: several threads may share their pieces out at once.
#pragma once

#include <pthread.h>

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <vector>

#include "base/status.hpp"

namespace hiroba {

class Helpers {
 public:
  // act(worker, piece) for each of `count` pieces, in any order; `worker` is less than width(), and no two calls at
  // once have the same. Returns the first error; the other pieces are then left out.
  using Act = std::function<Status(int worker, size_t piece)>;

  ~Helpers() { stop(); }
  Status start(int threads);
  void stop();
  int width() const { return static_cast<int>(threads_.size()) + 1; }
  Status share(size_t count, const Act& act);

 private:
  struct Work {
    const Act& act;
    size_t count, next = 0;
    int workers = 1;  // that have joined; the first is the one that asks
    int busy = 0;     // helpers inside
    Status failed = {};
  };
  void help();
  void take(Work& work, int worker, std::unique_lock<std::mutex>& guard);

  std::mutex lock_;  // guards the rest
  std::condition_variable wake_, left_;
  std::list<Work*> works_;
  bool ending_ = false;
  std::vector<pthread_t> threads_;
};

}  // namespace hiroba
