// This rank's part in a collective operation, as a coroutine: it runs until it needs a parcel that has not come, and
// goes on in the handler that brings it, in any thread, or in the page-fault handler. So it touches
// private memory only, sends parcels and nothing else, and waits for nothing but parcels; no two threads are ever in
// it.
//
// The object belongs to the code that started the operation. One that is dropped before it is done leaves the coroutine
// to the parcels.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdlib>
#include <utility>

namespace hiroba {

// A rank that was found in another operation, and which; then this one never goes on.
struct Other {
  std::atomic<bool> found{false};
  int rank = -1;
  char what[48] = "";
};

class Operation {
 public:
  struct promise_type {  // NOLINT(readability-identifier-naming): the language asks for this name
    std::atomic<bool> done{false};
    std::atomic<int> awaited{-1};  // the rank whose parcel is needed
    Other other;

    Operation get_return_object() { return Operation(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Final {
        bool await_ready() noexcept { return false; }
        // From the store on, the owner may destroy what this runs in.
        void await_suspend(std::coroutine_handle<promise_type> self) noexcept {
          self.promise().done.store(true, std::memory_order_release);
        }
        void await_resume() noexcept {}
      };
      return Final();
    }
    void return_void() {}
    void unhandled_exception() { std::abort(); }  // there are none here
  };

  Operation(Operation&& other) noexcept : self_(std::exchange(other.self_, nullptr)) {}
  Operation(const Operation&) = delete;
  ~Operation() {
    if (self_ != nullptr && done()) self_.destroy();
  }
  bool done() const { return self_.promise().done.load(std::memory_order_acquire); }
  int awaited() const { return self_.promise().awaited.load(std::memory_order_relaxed); }
  // Null unless there is one.
  const Other* other() const {
    const Other& other = self_.promise().other;
    return other.found.load(std::memory_order_acquire) ? &other : nullptr;
  }

 private:
  explicit Operation(std::coroutine_handle<promise_type> self) : self_(self) {}
  std::coroutine_handle<promise_type> self_;
};

}  // namespace hiroba
