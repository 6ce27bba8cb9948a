// task_values.hpp: values that tasks compute: futures, and reductions over tasks. On top of task.hpp.
//
//   hiroba::future<double> norm = hiroba::async(in(a.tile(0, 0)), [=] { return norm_of(a.tile(0, 0)); });
//   double n = norm.get();                        // on every rank
//
//   hiroba::reducer sum(*total, std::plus<>());   // total: in shared memory
//   for (...) hiroba::task(sum.use(), in(a.tile(i, j)), on(...), [&sum, ...] { sum.local() += ...; });
//   sum.finish();                                 // from here on *total is the sum, for tasks that name it
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "collective.h"
#include "sms.h"
#include "task.hpp"

namespace hiroba {

// The result of a task. Every rank makes it and calls get(); one that a task has made is for that task alone.
template <typename T>
class future {
 public:
  static_assert(std::is_trivially_copyable_v<T>, "a value goes to other ranks by its bytes");
  // Waits for the task, running others. Returns its value, also if another rank has run it. If the task has thrown,
  // every call throws that exception, on other ranks task_failed; also if it was not run because another task has
  // thrown. A task may wait for its children only: else it could wait for a task that waits for it.
  T get(std::source_location where = std::source_location::current()) {
    if (!state_->made)
      sms_abort(1,
                "future::get of a future without a task; hiroba::async returns one that has a task, on each rank that "
                "calls it");
    if (hiroba_task_inside() != 0 && !state_->of_child)
      sms_abort(1,
                "future::get in a task, of a future that the program has made: that task may come after this one and "
                "wait for it, which would be a cycle. Call get() before the task is created and capture the value, or "
                "write it to memory that both tasks name");
    if (!state_->known) find_out(where);
    if (state_->thrown != nullptr) detail::throw_noted(state_->thrown);
    return state_->value;
  }

 private:
  template <typename... Arguments>
  friend auto async(Arguments&&... arguments);
  struct state {
    T value = {};
    bool made = false, here = false, done = false, known = false;  // done: the task has run here, and has not thrown
    bool of_child = hiroba_task_inside() != 0;
    std::exception_ptr thrown;
  };
  void find_out(std::source_location where) {
    detail::wait_here(in(state_->value, where));
    bool failed = state_->here && !state_->done;
    if (sms_nprocs > 1 && !state_->of_child) failed = share(failed);
    state_->known = true;
    if (failed) take_exception(where);
  }
  // Waits for all tasks. The exception is the task's own, or of the task because of which this one was not run.
  void take_exception(std::source_location where) {
    std::exception_ptr of_wait;
    try {
      taskwait(where);
    } catch (...) {
      of_wait = std::current_exception();
    }
    int rank = state_->here ? sms_rank : -1, last = rank;
    if (sms_nprocs > 1 && !state_->of_child) hiroba_allreduce(&rank, &last, 1, HIROBA_INT, HIROBA_MAX, HIROBA_ALL);
    if (state_->thrown == nullptr) state_->thrown = of_wait;
    if (state_->thrown == nullptr)
      state_->thrown = std::make_exception_ptr(
          task_failed(last,
                      state_->here ? "a task was not run, because one before it has thrown," : "a task has thrown"));
  }
  // The rank that has the value gives it to all; if several have it, each keeps its own. Returns true if the task has
  // failed on any.
  bool share(bool failed) {
    std::vector<unsigned char> bytes(sizeof(T) + 1), result(sizeof(T) + 1);
    if (state_->here) std::memcpy(bytes.data(), &state_->value, sizeof(T));
    bytes[sizeof(T)] = failed ? 1 : 0;
    hiroba_request request;
    hiroba_iallreduce(bytes.data(), result.data(), static_cast<int64_t>(sizeof(T) + 1), HIROBA_UINT8, HIROBA_BOR,
                      HIROBA_ALL, &request);
    hiroba_task_work_until(
        [](void* r) {
          int done = 0;
          hiroba_test(static_cast<hiroba_request*>(r), &done);
          return done;
        },
        &request);
    if (!state_->here) std::memcpy(&state_->value, result.data(), sizeof(T));
    return result[sizeof(T)] != 0;
  }

  std::shared_ptr<state> state_ = std::make_shared<state>();
};

// Makes a task of a function that returns a value.
template <typename... Arguments>
auto async(Arguments&&... arguments) {
  auto all = std::forward_as_tuple(std::forward<Arguments>(arguments)...);
  constexpr size_t last = sizeof...(Arguments) - 1;
  auto&& function = std::get<last>(std::move(all));
  using Value = std::invoke_result_t<decltype(function)>;
  future<Value> result;
  auto state = result.state_;
  state->made = true;
  state->here = [&]<size_t... i>(std::index_sequence<i...>) {
    // First and without a place: the task has the place of the other arguments.
    return task(concurrent(state->value, std::source_location()), std::get<i>(all)...,
                [state, f = std::forward<decltype(function)>(function)]() mutable {
                  try {
                    state->value = f();
                    state->done = true;
                  } catch (...) {
                    state->thrown = std::current_exception();
                    throw;
                  }
                });
  }(std::make_index_sequence<last>());
  return result;
}

// A value that many tasks add to at once: each thread of each rank to its own part. In a job of several ranks the
// target is in shared memory. Lives until a wait after finish().
template <typename T, typename Combine = std::plus<>>
class reducer {
 public:
  explicit reducer(T& target, Combine combine = {}, T identity = {})
      : target_(&target),
        combine_(combine),
        identity_(identity),
        parts_(static_cast<size_t>(hiroba_task_threads()), part{identity}) {}
  reducer(const reducer&) = delete;

  // The access of a task that calls local().
  detail::task_access use(std::source_location where = std::source_location::current()) const {
    return concurrent(parts_[0], where);
  }
  T& local() { return parts_[static_cast<size_t>(hiroba_task_thread())].value; }
  // Creates the tasks that add the parts to the target, rank by rank.
  void finish(std::source_location where = std::source_location::current()) {
    for (int rank = 0; rank < sms_nprocs; ++rank)
      task(inout(parts_[0], where), inout(*target_), on(rank), name("reduce"), [this] {
        for (part& p : parts_) *target_ = combine_(*target_, std::exchange(p.value, identity_));
      });
  }

 private:
  struct alignas(64) part {
    T value;
  };
  T* target_;
  Combine combine_;
  T identity_;
  std::vector<part> parts_;
};
template <typename T>
reducer(T&) -> reducer<T>;
template <typename T, typename Combine>
reducer(T&, Combine) -> reducer<T, Combine>;

}  // namespace hiroba
