// device.hpp: tasks on devices in C++, on top of device.h and task.hpp.
//
//   hiroba::task(hiroba::on(hiroba::device(0)), in(x, n), inout(y, n), [=](const double* x, double* y) { ... });
//
// Once the data is in place on the rank that runs the task, it is brought to the memory of that rank's device; the
// function gets the addresses there, in the order of the accesses; what it writes is written back, and the task ends.
// Data that stays on the device between tasks is not moved again. A function whose first parameter is a
// hiroba::device_stream runs on all kinds of devices: on those of NVIDIA it starts kernels in that stream and does not
// wait for them. Any other computes by itself, on host devices alone. It returns nothing, or 0 if all is well, and must
// not throw. Captured values are copies, which live until the task has ended. The accesses are in, out and inout.
#pragma once

#include <memory>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "device.h"
#include "task.hpp"

namespace hiroba {

// A device of the rank that runs the task.
struct device {
  explicit constexpr device(int its_number) : number(its_number) {}
  int number;
};

class device_stream {
 public:
  explicit device_stream(void* native) : native_(native) {}
  bool on_host() const { return native_ == nullptr; }
  void* native() const { return native_; }  // a cudaStream_t

 private:
  void* native_;
};

namespace detail {

struct on_device {
  int number;
  std::source_location where;
};

// An address on a device, for a parameter of any pointer type.
class device_address {
 public:
  explicit device_address(void* at) : at_(at) {}
  template <typename T>
  operator T*() const {  // NOLINT: implicit, as an argument
    return static_cast<T*>(at_);
  }

 private:
  void* at_;
};
template <size_t>
using address_for = device_address;

template <typename Call>
int result_of(Call&& call) {
  if constexpr (std::is_convertible_v<std::invoke_result_t<Call>, int>) return call();
  else return call(), 0;
}

template <typename F, typename Indices>
struct device_kernel;
template <typename F, size_t... i>
struct device_kernel<F, std::index_sequence<i...>> {
  static constexpr bool for_streams = std::is_invocable_v<F&, device_stream, address_for<i>...>;
  static_assert(for_streams || std::is_invocable_v<F&, address_for<i>...>,
                "the function takes a pointer for each access, and a hiroba::device_stream in front of them, or not");

  // The argument is a pointer to the function.
  static int run(void* const* data, const void* argument, void* stream) {
    F& function = **static_cast<F* const*>(argument);
    (void)data, (void)stream;
    if constexpr (for_streams)
      return result_of([&] { return function(device_stream(stream), device_address(data[i])...); });
    else return result_of([&] { return function(device_address(data[i])...); });
  }
};

template <typename F, size_t count>
struct device_body {
  std::vector<hiroba_access> accesses;
  int device;
  const hiroba_task_label* label;
  F function;

  void operator()() {
    using Kernel = device_kernel<F, std::make_index_sequence<count>>;
    static const hiroba_kernel kernel = {label->name, Kernel::run, Kernel::for_streams ? Kernel::run : nullptr};
    hiroba_place = label->place;
    hiroba_device_task(device, &kernel, accesses.data(), static_cast<int>(count), new F(function),
                       [](void* object) { delete static_cast<F*>(object); });
  }
};

}  // namespace detail

constexpr detail::on_device on(device on, std::source_location where = std::source_location::current()) {
  return {on.number, where};
}

// A task on a device, which comes first; then accesses, on(rank), priority() and name() in any order, and the function.
template <typename... Arguments>
bool task(detail::on_device where, Arguments&&... arguments) {
  detail::task_words words;
  words.where = where.where;
  auto all = std::forward_as_tuple(std::forward<Arguments>(arguments)...);
  constexpr size_t last = sizeof...(Arguments) - 1;
  [&]<size_t... i>(std::index_sequence<i...>) { (words.add(std::get<i>(all)), ...); }(std::make_index_sequence<last>());
  using F = std::remove_cvref_t<std::tuple_element_t<last, std::tuple<Arguments...>>>;
  constexpr size_t count = (size_t{std::is_base_of_v<detail::task_access, std::remove_cvref_t<Arguments>>} + ...);
  detail::device_body<F, count> body = {{words.accesses, words.accesses + words.count},
                                        where.number,
                                        detail::label_of<F>(words),
                                        std::get<last>(std::move(all))};
  for (hiroba_access& access : body.accesses) access.tile = nullptr;  // it is for the order of tasks
  return detail::make_named_task(words, body.label, std::move(body));
}

}  // namespace hiroba
