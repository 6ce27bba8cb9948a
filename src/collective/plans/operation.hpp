// This rank's part in a collective operation, as a coroutine: it runs until it needs something that is not there yet,
// and Operations resumes it when it is. Threads that wait and the progress thread call advance(), outside of handlers
// of messages and of the page-fault handler, so an operation may touch any memory, move data and send. One thread at a
// time advances the operations of a rank.
//
// The code that started an operation owns its object. An operation whose object is destroyed runs to its end.
#pragma once

#include <pthread.h>

#include <atomic>
#include <coroutine>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

#include "base/wait.hpp"

namespace hiroba {

// A rank that was found in another operation, or with other sizes, and the difference; then this operation never ends.
struct Other {
  std::atomic<bool> found{false};
  int rank = -1;
  char what[112] = "";

  void stop(int other_rank, const std::string& differs) {
    rank = other_rank;
    differs.copy(what, sizeof what - 1);
    found.store(true, std::memory_order_release);
  }
};

class Operation {
 public:
  // The condition that an operation waits for; it lives in the operation's frame.
  class Awaited {
   public:
    virtual bool ready() = 0;

   protected:
    ~Awaited() = default;
  };
  struct promise_type {  // NOLINT(readability-identifier-naming): the language asks for this name
    enum : int { running, ended, abandoned };
    std::atomic<int> state{running};
    std::atomic<int> awaited{-1};  // the rank that must send something
    Awaited* needed = nullptr;
    promise_type *before = nullptr, *after = nullptr;  // among those that have not ended
    bool at_end = false;
    Other other;

    Operation get_return_object() { return Operation(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return at_end = true, std::suspend_always(); }
    void return_void() {}
    void unhandled_exception() { std::abort(); }  // nothing throws here
  };
  using Handle = std::coroutine_handle<promise_type>;

  Operation(Operation&& other) noexcept : self_(std::exchange(other.self_, nullptr)) {}
  Operation(const Operation&) = delete;
  ~Operation() {
    if (self_ != nullptr && self_.promise().state.exchange(promise_type::abandoned) == promise_type::ended)
      self_.destroy();
  }
  bool done() const { return self_.promise().state.load(std::memory_order_acquire) == promise_type::ended; }
  int awaited() const { return self_.promise().awaited.load(std::memory_order_relaxed); }
  // Returns null unless a rank was found.
  const Other* other() const {
    const Other& other = self_.promise().other;
    return other.found.load(std::memory_order_acquire) ? &other : nullptr;
  }

 private:
  friend class Operations;
  explicit Operation(Handle self) : self_(self) {}
  Handle self_;
};

// `co_await OwnPromise()` returns the operation's own state, without a wait.
struct OwnPromise {
  Operation::promise_type* promise = nullptr;
  bool await_ready() const { return false; }
  bool await_suspend(Operation::Handle self) { return promise = &self.promise(), false; }
  Operation::promise_type& await_resume() const { return *promise; }
};

// `co_await Until(condition)` waits; each advance() tests the condition.
template <typename Condition>
class Until final : public Operation::Awaited {
 public:
  explicit Until(Condition condition) : condition_(std::move(condition)) {}
  bool ready() override { return condition_(); }
  bool await_ready() { return condition_(); }
  void await_suspend(Operation::Handle self) { self.promise().needed = this; }
  void await_resume() const {}

 private:
  Condition condition_;
};

// The operations of a rank that have not ended. Thread-safe.
class Operations {
 public:
  ~Operations() {
    while (first_ != nullptr) handle_of(*std::exchange(first_, first_->after)).destroy();
  }
  bool any() const { return count_.load(std::memory_order_acquire) != 0; }
  // Starts the operation that begin() makes, in this thread; an operation may call it, too.
  template <typename Begin>
  Operation start(const Begin& begin) {
    const bool nested = owner_.load(std::memory_order_relaxed) == pthread_self();
    if (!nested) lock();
    Operation operation = begin();
    enlist(operation);
    if (!nested) unlock();
    return operation;
  }
  // Adds an operation; for an operation that starts others.
  void enlist(const Operation& operation) {
    if (ended(operation.self_)) return;
    Promise& promise = operation.self_.promise();
    promise.before = last_;
    (last_ == nullptr ? first_ : last_->after) = &promise;
    last_ = &promise;
    count_.fetch_add(1, std::memory_order_release);
  }
  // Returns the number of advance() calls so far; for operations.
  uint64_t turns() const { return turns_; }
  // Resumes those that are ready, as far as they can run; true if any ran. Does nothing while another thread does so.
  // It looks at the oldest, which the others of their team follow, and at some more in turn: thousands may wait.
  bool advance() {
    if (!any() || !lock_.try_lock()) return false;
    owner_.store(pthread_self(), std::memory_order_relaxed);
    ++turns_;
    bool any = false;
    Promise* const rest = visit(first_, any);
    if (rest != nullptr) next_ = visit(next_ == nullptr ? rest : next_, any);
    unlock();
    return any;
  }

 private:
  using Promise = Operation::promise_type;
  static constexpr int most_waiting = 64;  // in one visit

  static Operation::Handle handle_of(Promise& promise) { return Operation::Handle::from_promise(promise); }

  // Runs those from `promise` on, until it has found many that are not ready; returns the next one. Operations that run
  // may append others.
  Promise* visit(Promise* promise, bool& any) {
    for (int waiting = 0; promise != nullptr && waiting < most_waiting;) {
      const Operation::Handle operation = handle_of(*promise);
      while (!promise->at_end && promise->needed->ready()) operation.resume(), any = true;
      Promise* const after = promise->after;
      if (promise->at_end) remove(*promise), ended(operation);
      else ++waiting;
      promise = after;
    }
    return promise;
  }

  void remove(Promise& promise) {
    if (next_ == &promise) next_ = promise.after;
    (promise.before == nullptr ? first_ : promise.before->after) = promise.after;
    (promise.after == nullptr ? last_ : promise.after->before) = promise.before;
    count_.fetch_sub(1, std::memory_order_relaxed);
  }

  void lock() {
    lock_.lock();
    owner_.store(pthread_self(), std::memory_order_relaxed);
  }
  void unlock() {
    owner_.store({}, std::memory_order_relaxed);
    lock_.unlock();
  }
  // After the exchange of states, the owner may destroy the operation.
  static bool ended(Operation::Handle operation) {
    if (!operation.promise().at_end) return false;
    if (operation.promise().state.exchange(Operation::promise_type::ended) == Operation::promise_type::abandoned)
      operation.destroy();
    return true;
  }

  std::atomic<size_t> count_{0};
  std::atomic<pthread_t> owner_{};              // the thread that holds the lock
  SignalSafeLock lock_;                         // guards the next members, and is held while operations run
  Promise *first_ = nullptr, *last_ = nullptr;  // in the order of their starts
  Promise* next_ = nullptr;                     // after those that the latest advance() has looked at
  uint64_t turns_ = 0;
};

}  // namespace hiroba
