// task.hpp: tasks in C++, on top of task.h, which defines tasks and the ranks that run them.
//
//   hiroba::tiles<double> a(data, n, n, tile, tile), b(other, n, n, tile, tile);
//   hiroba::task(in(a.tile(i - 1, j).south()), in(a.tile(i, j)), out(b.tile(i, j)), [=] { update(a.tile(i, j)...); });
//   hiroba::task(inout(sum), hiroba::on(0), hiroba::priority(1), hiroba::name("sum"), [&] { ... });
//   hiroba::taskwait();
//
// in, out, inout, commutative and concurrent take an object; a pointer and a number of elements; a contiguous range
// (vector, array, span); or a tile, or an edge of one. A function that captures by value keeps its copies until it has
// run, on the rank that runs it. taskwait throws its exception: on other ranks as hiroba::task_failed. Other waits
// (sms_barrier, sms_shutdown) end the job then, with a message, as taskwait does if the exception is not caught.
#pragma once

#include <concepts>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <ranges>
#include <source_location>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "place.hpp"
#include "sms.h"
#include "task.h"

namespace hiroba {

// ---- data ----------------------------------------------------------------------------------------------------------

// A box of a matrix; with `whole`, of the tile that contains it.
template <typename T>
class tile_view {
 public:
  tile_view() = default;
  tile_view(T* data, int64_t rows, int64_t columns, int64_t leading) : tile_view(data, rows, columns, leading, {}) {
    whole_ = section();
  }
  T* data() const { return data_; }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  int64_t leading() const { return leading_; }  // elements from a row to the next
  T& operator()(int64_t i, int64_t j) const { return data_[i * leading_ + j]; }
  bool empty() const { return rows_ == 0 || columns_ == 0; }

  // Its outermost rows and columns.
  tile_view north(int64_t n = 1) const { return part(0, 0, least(n, rows_), columns_); }
  tile_view south(int64_t n = 1) const { return part(rows_ - least(n, rows_), 0, least(n, rows_), columns_); }
  tile_view west(int64_t n = 1) const { return part(0, 0, rows_, least(n, columns_)); }
  tile_view east(int64_t n = 1) const { return part(0, columns_ - least(n, columns_), rows_, least(n, columns_)); }

  hiroba_section section() const {
    hiroba_section out;
    out.address = const_cast<std::remove_const_t<T>*>(data_);
    out.bytes = static_cast<size_t>(columns_) * sizeof(T);
    out.dims = 1;
    out.count[0] = rows_, out.stride[0] = leading_ * static_cast<int64_t>(sizeof(T));
    return out;
  }
  const hiroba_section& whole() const { return whole_; }

 private:
  tile_view(T* data, int64_t rows, int64_t columns, int64_t leading, const hiroba_section& whole)
      : data_(data), rows_(rows), columns_(columns), leading_(leading), whole_(whole) {}
  static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
  tile_view part(int64_t i, int64_t j, int64_t rows, int64_t columns) const {
    return {data_ + i * leading_ + j, rows, columns, leading_, whole_};
  }

  T* data_ = nullptr;
  int64_t rows_ = 0, columns_ = 0, leading_ = 0;
  hiroba_section whole_ = {};
};

namespace detail {

[[noreturn]] inline void refuse(const std::source_location& where, const std::string& what) {
  sms_abort(1, (std::string(place(where)) + ": " + what).c_str());
  std::abort();  // not reached
}

}  // namespace detail

// A matrix, in rows, cut into tiles; the last ones may be smaller, and a tile may be larger than the matrix.
template <typename T>
class tiles {
 public:
  tiles(T* data, int64_t rows, int64_t columns, int64_t tile_rows, int64_t tile_columns, int64_t leading = 0,
        std::source_location where = std::source_location::current())
      : data_(data),
        rows_(rows),
        columns_(columns),
        tile_rows_(tile_rows),
        tile_columns_(tile_columns),
        leading_(leading != 0 ? leading : columns) {
    const auto size = [](int64_t m, int64_t n) { return std::to_string(m) + " x " + std::to_string(n); };
    if (rows < 0 || columns < 0)
      detail::refuse(where, "a matrix of " + size(rows, columns) + ", cut into tiles; neither may be negative");
    if (tile_rows < 1 || tile_columns < 1)
      detail::refuse(where, "tiles of " + size(tile_rows, tile_columns) + " of a matrix of " + size(rows, columns) +
                                "; each has at least 1 row and 1 column");
    if (leading_ < columns)
      detail::refuse(where, "a matrix of " + size(rows, columns) + ", cut into tiles, with " +
                                std::to_string(leading_) +
                                " elements from a row to the next; at least as many as it has columns");
  }
  int64_t rows() const { return (rows_ + tile_rows_ - 1) / tile_rows_; }  // of tiles
  int64_t columns() const { return (columns_ + tile_columns_ - 1) / tile_columns_; }
  // Returns an empty tile outside of the matrix.
  tile_view<T> tile(int64_t i, int64_t j) const {
    if (i < 0 || j < 0 || i >= rows() || j >= columns()) return {};
    const int64_t row = i * tile_rows_, column = j * tile_columns_;
    return {data_ + row * leading_ + column, row + tile_rows_ < rows_ ? tile_rows_ : rows_ - row,
            column + tile_columns_ < columns_ ? tile_columns_ : columns_ - column, leading_};
  }

 private:
  T* data_;
  int64_t rows_, columns_, tile_rows_, tile_columns_, leading_;
};

namespace detail {

// One access of a task, and the place in the program that names it.
struct task_access {
  hiroba_access access;
  std::source_location where;
};
// An access to a part of a tile.
struct tile_access : task_access {
  hiroba_section tile;
};

template <int mode>
struct access_maker {
  template <typename T>
    requires(!std::is_pointer_v<T> && !std::ranges::contiguous_range<T>)
  task_access operator()(const T& object, std::source_location where = std::source_location::current()) const {
    return {hiroba_use(mode, &object, sizeof object), where};
  }
  template <typename T>
  tile_access operator()(const tile_view<T>& view, std::source_location where = std::source_location::current()) const {
    return {{{mode, nullptr, view.section(), 0, 0}, where}, view.whole()};
  }
  template <typename T>
  task_access operator()(T* data, size_t count, std::source_location where = std::source_location::current()) const {
    return {hiroba_use(mode, data, count * sizeof(T)), where};
  }
  template <std::ranges::contiguous_range R>
  task_access operator()(R&& range, std::source_location where = std::source_location::current()) const {
    return (*this)(std::ranges::data(range), std::ranges::size(range), where);
  }
};

struct on_rank {
  int rank;
  std::source_location where;
};
struct with_priority {
  int value;
  std::source_location where;
};
struct with_name {
  const char* text;
  std::source_location where;
};

// The arguments of task() except for the function.
struct task_words {
  static constexpr int most = 19;
  hiroba_access accesses[most];
  int count = 0;
  hiroba_task_spec spec = {nullptr, HIROBA_ANYWHERE, 0};
  const char* name = nullptr;
  std::source_location where;

  void add(const task_access& a) {
    hiroba_access& to = accesses[count];
    to.mode = a.access.mode, to.tile = nullptr;
    if (a.access.section.dims == 0) {  // the rest of it is not set
      to.section.address = a.access.section.address, to.section.bytes = a.access.section.bytes, to.section.dims = 0;
    } else {
      to.section = a.access.section;
    }
    ++count;
    where = a.where;
  }
  void add(const tile_access& a) {
    add(static_cast<const task_access&>(a));
    accesses[count - 1].tile = &a.tile;
  }
  void add(const on_rank& on) { spec.on = on.rank, where = on.where; }
  void add(const with_priority& priority) { spec.priority = priority.value, where = priority.where; }
  void add(const with_name& with) { name = with.text, where = with.where; }
};

// Made for each call of task() in the program, because each has a function of its own type.
template <typename F>
const hiroba_task_label* label_of(const task_words& words) {
  static const std::string at = words.where.line() == 0 ? "a task" : static_cast<const char*>(place(words.where));
  static const std::string name = words.name != nullptr ? words.name : "task";
  static const hiroba_task_label label = {name.c_str(), at.c_str()};
  return &label;
}

template <typename F>
void run_task(F& function) {
  try {
    function();
  } catch (const std::exception& e) {
    hiroba_task_fail(new std::exception_ptr(std::current_exception()), e.what());
  } catch (...) {
    hiroba_task_fail(new std::exception_ptr(std::current_exception()), "it has thrown what is no std::exception");
  }
}

template <typename F>
void submit_task(void* argument, F&& function) {
  using Function = std::remove_cvref_t<F>;
  if constexpr (sizeof(Function) <= HIROBA_TASK_ARGUMENT && alignof(Function) <= 16) {
    new (argument) Function(std::forward<F>(function));
    hiroba_task_submit(argument, [](void* a, int run) {
      Function& f = *static_cast<Function*>(a);
      if (run != 0) run_task(f);
      if (run != 2) f.~Function();
    });
  } else {
    new (argument) Function*(new Function(std::forward<F>(function)));
    hiroba_task_submit(argument, [](void* a, int run) {
      std::unique_ptr<Function> f(*static_cast<Function**>(a));
      if (run != 0) run_task(*f);
      if (run == 2) (void)f.release();
    });
  }
}

template <typename F>
bool make_named_task(task_words& words, const hiroba_task_label* label, F&& function) {
  words.spec.label = label;
  void* const argument = hiroba_task_create(words.accesses, words.count, &words.spec);
  if (argument != nullptr) submit_task(argument, std::forward<F>(function));
  return argument != nullptr;
}
template <typename F>
bool make_task(task_words& words, F&& function) {
  return make_named_task(words, label_of<std::remove_cvref_t<F>>(words), std::forward<F>(function));
}

}  // namespace detail

inline constexpr detail::access_maker<HIROBA_IN> in;
inline constexpr detail::access_maker<HIROBA_OUT> out;
inline constexpr detail::access_maker<HIROBA_INOUT> inout;
inline constexpr detail::access_maker<HIROBA_COMMUTATIVE> commutative;
inline constexpr detail::access_maker<HIROBA_CONCURRENT> concurrent;
constexpr detail::on_rank on(int rank, std::source_location where = std::source_location::current()) {
  return {rank, where};
}
constexpr detail::with_priority priority(int value, std::source_location where = std::source_location::current()) {
  return {value, where};
}
constexpr detail::with_name name(const char* text, std::source_location where = std::source_location::current()) {
  return {text, where};
}

// ---- tasks ---------------------------------------------------------------------------------------------------------

// A task on another rank has thrown.
class task_failed : public std::runtime_error {
 public:
  explicit task_failed(int rank, const std::string& what = "a task has thrown")
      : std::runtime_error(what + " on rank " + std::to_string(rank)), rank_(rank) {}
  int rank() const { return rank_; }

 private:
  int rank_;
};

// Accesses, on(), priority() and name() in any order, and last the function. Returns true if this rank runs it.
template <typename... Arguments>
bool task(Arguments&&... arguments) {
  static_assert(sizeof...(Arguments) <= detail::task_words::most + 1, "at most 19 accesses and other words");
  detail::task_words words;
  auto all = std::forward_as_tuple(std::forward<Arguments>(arguments)...);
  constexpr size_t last = sizeof...(Arguments) - 1;
  [&]<size_t... i>(std::index_sequence<i...>) { (words.add(std::get<i>(all)), ...); }(std::make_index_sequence<last>());
  auto&& function = std::get<last>(std::move(all));
  return detail::make_task(words, std::forward<decltype(function)>(function));
}
// Makes a specification of a function alone, which names nothing.
template <typename F>
  requires std::invocable<F&>
bool task(F&& function, std::source_location where = std::source_location::current()) {
  detail::task_words words;
  words.where = where;
  return detail::make_task(words, std::forward<F>(function));
}

namespace detail {

// Holds the last exception of a wait, outside of tasks. If it is not caught, the message names the task that threw it.
inline std::exception_ptr& last_thrown() {
  static std::exception_ptr thrown;
  return thrown;
}

[[noreturn]] inline void throw_noted(const std::exception_ptr& what) {
  static std::terminate_handler before = nullptr;
  static const bool once = (before = std::set_terminate([] {
                              if (last_thrown() != nullptr && std::current_exception() == last_thrown())
                                hiroba_task_uncaught();
                              before();
                            }),
                            true);
  (void)once;
  if (hiroba_task_inside() == 0) last_thrown() = what;
  std::rethrow_exception(what);
}

inline void throw_failure(int rank, void* failure) {
  if (failure != nullptr) {
    const std::unique_ptr<std::exception_ptr> thrown(static_cast<std::exception_ptr*>(failure));
    throw_noted(*thrown);
  }
  if (rank >= 0) throw_noted(std::make_exception_ptr(task_failed(rank)));
}

}  // namespace detail

inline void taskwait(std::source_location where = std::source_location::current()) {
  void* failure = nullptr;
  const int rank = hiroba_taskwait_failed(detail::place(where), &failure);
  detail::throw_failure(rank, failure);
}
// hiroba_task_parts of task.h.
inline void task_parts(bool on, std::source_location where = std::source_location::current()) {
  hiroba_task_parts_at(on ? 1 : 0, detail::place(where));
}
namespace detail {

// The arguments of a wait for data.
template <typename... Accesses>
void add_wait(task_words& words, const Accesses&... accesses) {
  static_assert(sizeof...(Accesses) <= task_words::most, "at most 19 accesses");
  (words.add(accesses), ...);
  words.name = "taskwait";
  words.spec.label = label_of<std::tuple<Accesses...>>(words);
}
// Does not check for failed tasks.
inline void wait_here(const task_access& access) {
  task_words words;
  add_wait(words, access);
  hiroba_taskwait_here(words.accesses, words.count, &words.spec);
}

}  // namespace detail

// Waits until this data is here.
template <typename... Accesses>
  requires(sizeof...(Accesses) > 0 && (std::is_base_of_v<detail::task_access, Accesses> && ...))
void taskwait(const Accesses&... accesses) {
  detail::task_words words;
  detail::add_wait(words, accesses...);
  void* failure = nullptr;
  const int rank = hiroba_taskwait_on_failed(words.accesses, words.count, &words.spec, &failure);
  detail::throw_failure(rank, failure);
}

// A loop whose iterations each create the same tasks: graph g([&] { ... tasks ... }); g.run(1000);
// (hiroba_graph_create).
template <typename F>
class graph {
 public:
  explicit graph(F create, std::source_location where = std::source_location::current())
      : create_(std::move(create)),
        place_(where),
        graph_(hiroba_graph_create([](void* self) { static_cast<graph*>(self)->create_(); }, this, place_)) {}
  graph(const graph&) = delete;
  ~graph() { hiroba_graph_free(graph_); }
  void run(int64_t times = 1) {
    void* failure = nullptr;
    const int rank = hiroba_graph_run(graph_, times, place_, &failure);
    detail::throw_failure(rank, failure);
  }

 private:
  F create_;
  detail::place place_;
  hiroba_graph* graph_;
};

// body(first, last) in a task for each `grain` iterations of [begin, end); accesses(first, last) is called for each of
// them and returns what task() gets before its function, as a tuple.
template <typename Accesses, typename Body>
void taskloop(int64_t begin, int64_t end, int64_t grain, const Accesses& accesses, const Body& body,
              std::source_location where = std::source_location::current()) {
  if (grain < 1)
    detail::refuse(where, "a loop of tasks of " + std::to_string(grain) + " iterations; each has at least one");
  for (int64_t first = begin; first < end; first += grain) {
    const int64_t last = first + grain < end ? first + grain : end;
    std::apply([&](auto&&... words) { task(words..., [body, first, last] { body(first, last); }); },
               accesses(first, last));
  }
}

}  // namespace hiroba
