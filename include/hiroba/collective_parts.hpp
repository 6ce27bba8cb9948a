// The parts of collective.hpp, which includes it: types and operators, teams, requests. Programs include
// collective.hpp.
#pragma once

#include <version>
#if !defined(__cpp_lib_source_location) || !defined(__cpp_lib_ranges)
#error "collective.hpp needs C++20 with <source_location> and <ranges>: g++ -std=c++20, clang++ 16 or newer"
#endif

#include <complex>
#include <concepts>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <ranges>
#include <source_location>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "collective.h"
#include "place.hpp"

namespace hiroba {

using location = std::source_location;

// The type of collective.h for T, for the operators of numbers; a type of the program has none.
template <typename T>
inline constexpr hiroba_type number_type = [] {
  if constexpr (std::is_same_v<T, bool>) return hiroba_type{HIROBA_BOOL};
  else if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
    constexpr hiroba_type by_size[] = {HIROBA_INT8, HIROBA_INT16, HIROBA_INT32, HIROBA_INT64};
    constexpr int log = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return by_size[log] + (std::is_unsigned_v<T> ? 1 : 0);
  } else if constexpr (std::is_same_v<T, float>) return hiroba_type{HIROBA_FLOAT};
  else if constexpr (std::is_same_v<T, double>) return hiroba_type{HIROBA_DOUBLE};
  else if constexpr (std::is_same_v<T, long double>) return hiroba_type{HIROBA_LONG_DOUBLE};
  else if constexpr (std::is_same_v<T, std::complex<float>>) return hiroba_type{HIROBA_FLOAT_COMPLEX};
  else if constexpr (std::is_same_v<T, std::complex<double>>) return hiroba_type{HIROBA_DOUBLE_COMPLEX};
  else if constexpr (std::is_same_v<T, std::complex<long double>>) return hiroba_type{HIROBA_LONG_DOUBLE_COMPLEX};
  else return hiroba_type{-1};
}();

struct in_place_buffer {};
inline constexpr in_place_buffer in_place = {};

template <int index>
struct known_operator {};
inline constexpr known_operator<0> sum = {};
inline constexpr known_operator<1> product = {};
inline constexpr known_operator<2> max = {};
inline constexpr known_operator<3> min = {};
inline constexpr known_operator<4> logical_and = {};
inline constexpr known_operator<5> logical_or = {};
inline constexpr known_operator<6> bit_and = {};
inline constexpr known_operator<7> bit_or = {};
inline constexpr known_operator<8> bit_xor = {};

// Counts of all members' elements, and the first element of each; without these, consecutive blocks.
struct parts {
  std::span<const int64_t> counts = {}, displs = {};
};

namespace detail {

// Gives the calls of C their place in the program. The text is made again only if the place has changed.
inline void stand_at(const location& where) {
  thread_local const char* file = nullptr;
  thread_local unsigned line = 0;
  thread_local place text;
  if (file != where.file_name() || line != where.line()) {
    file = where.file_name(), line = where.line();
    text = place(where);
  }
  hiroba_place = text;
}

template <typename... A>
void require(bool right, const location& where, const char* call, const char* what, A... values) {
  if (right) return;
  char text[400];
  const int used = std::snprintf(text, sizeof text, "hiroba::%s: ", call);
  std::snprintf(text + used, sizeof text - static_cast<size_t>(used), what, static_cast<long long>(values)...);
  stand_at(where);
  hiroba_fail(text);
}

template <typename T>
struct element_type {
  using type = std::remove_cvref_t<T>;
};
template <std::ranges::contiguous_range R>
struct element_type<R> {
  using type = std::remove_cv_t<std::ranges::range_value_t<R>>;
};
template <typename B>
using element_of = typename element_type<std::remove_reference_t<B>>::type;

template <typename B>
concept is_in_place = std::is_same_v<std::remove_cvref_t<B>, in_place_buffer>;
// Memory that outlives the call.
template <typename B>
concept memory = !is_in_place<B> && std::is_trivially_copyable_v<element_of<B>> &&
                 !std::is_pointer_v<std::remove_cvref_t<element_of<B>>> &&
                 (std::is_lvalue_reference_v<B> || std::ranges::borrowed_range<B>);
template <typename B>
concept readable = is_in_place<B> || memory<B>;

template <typename B>
auto pointer(B& buffer) {
  if constexpr (is_in_place<B>) return HIROBA_IN_PLACE;
  else if constexpr (std::ranges::contiguous_range<B>) return std::ranges::data(buffer);
  else return &buffer;
}
template <typename B>
concept writable = memory<B> && !std::is_const_v<std::remove_pointer_t<decltype(pointer(std::declval<B&>()))>>;
template <typename B>
concept fillable = is_in_place<B> || writable<B>;
template <typename A, typename B>
concept alike = is_in_place<A> || is_in_place<B> || std::is_same_v<element_of<A>, element_of<B>>;

template <typename B>
int64_t length(const B& buffer) {
  if constexpr (std::ranges::contiguous_range<B>) return static_cast<int64_t>(std::ranges::size(buffer));
  else return 1;
}
template <typename T>
constexpr hiroba_type type() {
  return number_type<T> >= 0 ? number_type<T> : HIROBA_TYPE(sizeof(T));
}
template <typename Send, typename Recv>
constexpr hiroba_type type_of_both() {
  return type<element_of<std::conditional_t<is_in_place<Send>, Recv, Send>>>();
}

// ---- operators -----------------------------------------------------------------------------------------------------

template <typename T>
constexpr bool is_complex = number_type<T> >= HIROBA_FLOAT_COMPLEX;
template <typename Op, typename T>
constexpr bool combines = std::is_invocable_r_v<T, const Op&, const T&, const T&>;
template <int index, typename T>
constexpr bool combines<known_operator<index>, T> =
    number_type<T> >= 0 && (index < 2 || !is_complex<T>) && (index < 6 || std::is_integral_v<T>);

// The operator for collective.h; it must outlive its uses.
template <typename T, typename Op>
class held_operator {
 public:
  held_operator(Op op, const char* call, const location& where) : op_(std::move(op)), call_(call), where_(where) {}
  held_operator(const held_operator&) = delete;
  hiroba_op get() const { return &record_; }

 private:
  // Elements may be at any address.
  void combine(char* mine, const char* theirs, int64_t count) const {
    for (; count > 0; --count, mine += sizeof(T), theirs += sizeof(T)) {
      alignas(T) char a[sizeof(T)], b[sizeof(T)];
      std::memcpy(a, mine, sizeof(T)), std::memcpy(b, theirs, sizeof(T));
      const T both = op_(*std::launder(reinterpret_cast<T*>(a)), *std::launder(reinterpret_cast<T*>(b)));
      std::memcpy(mine, &both, sizeof(T));
    }
  }
  static void run(void* mine, const void* theirs, int64_t count, void* context) noexcept {
    const auto& self = *static_cast<const held_operator*>(context);
#ifdef __cpp_exceptions
    try {
      self.combine(static_cast<char*>(mine), static_cast<const char*>(theirs), count);
    } catch (const std::exception& thrown) {
      self.fail(thrown.what());
    } catch (...) {
      self.fail("an object that is no std::exception");
    }
#else
    self.combine(static_cast<char*>(mine), static_cast<const char*>(theirs), count);
#endif
  }
  [[noreturn]] void fail(const char* thrown) const {
    char text[400];
    std::snprintf(text, sizeof text, "hiroba::%s: its operator has thrown: %s; return a value that tells it", call_,
                  thrown);
    stand_at(where_);
    hiroba_fail(text);
  }

  Op op_;
  const char* call_;
  location where_;
  hiroba_operator record_ = {run, this, "own operator"};
};
template <typename T, int index>
class held_operator<T, known_operator<index>> {
 public:
  held_operator(known_operator<index>, const char*, const location&) {}
  hiroba_op get() const { return &hiroba_operators[index]; }
};

}  // namespace detail

// ---- teams and requests --------------------------------------------------------------------------------------------

// Collective: all members make and destroy it together, while no operation of it is under way. By default all ranks.
class team {
 public:
  team() = default;
  static team all() { return {}; }
  team(team&& other) noexcept : handle_(std::exchange(other.handle_, HIROBA_ALL)), where_(other.where_) {}
  team& operator=(team&& other) noexcept {
    std::swap(handle_, other.handle_), std::swap(where_, other.where_);
    return *this;
  }
  // Does nothing during an exception: other members may not arrive then.
  ~team() {
    if (handle_ == HIROBA_ALL || handle_ == HIROBA_NO_TEAM || std::uncaught_exceptions() > 0) return;
    detail::stand_at(where_);
    (hiroba_team_free)(&handle_);
  }

  // Ranks with the same colour, ordered by key, then by rank; with a negative colour a team that this rank is not in.
  [[nodiscard]] team split(int color, int key = 0, location where = location::current()) const {
    team out(where);
    (hiroba_team_split)(handle_, color, key, &out.handle_);
    return out;
  }
  // Makes a team of the ranks of the list, in its order. All give the same list.
  [[nodiscard]] team of(std::span<const int> ranks, location where = location::current()) const {
    team out(where);
    (hiroba_team_from_list)(handle_, static_cast<int>(ranks.size()), ranks.data(), &out.handle_);
    return out;
  }
  // Makes a team of the images of a node array of xmp.h, in its order. All give the same array.
  [[nodiscard]] team of(const xmp_nodes& nodes, location where = location::current()) const {
    team out(where);
    (hiroba_team_from_nodes)(handle_, &nodes, &out.handle_);
    return out;
  }
  bool has_me() const { return handle_ != HIROBA_NO_TEAM; }
  int rank() const { return (hiroba_team_rank)(handle_); }
  int size() const { return (hiroba_team_size)(handle_); }
  int member(int index) const { return (hiroba_team_member)(handle_, index); }  // its rank among all
  hiroba_team handle() const { return handle_; }                                // for collective.h

 private:
  explicit team(const location& where) : where_(where) { detail::stand_at(where); }

  hiroba_team handle_ = HIROBA_ALL;
  location where_;
};

// A started operation: its buffers belong to it until it is complete. The destructor waits.
class [[nodiscard]] started {
 public:
  started() = default;
  started(hiroba_request request, std::shared_ptr<void> kept, const location& where)
      : request_(request), kept_(std::move(kept)), where_(where) {}
  started(started&& other) noexcept
      : request_(std::exchange(other.request_, HIROBA_NO_REQUEST)),
        kept_(std::move(other.kept_)),
        where_(other.where_) {}
  started& operator=(started&& other) noexcept {
    wait(where_);
    request_ = std::exchange(other.request_, HIROBA_NO_REQUEST);
    kept_ = std::move(other.kept_), where_ = other.where_;
    return *this;
  }
  ~started() { wait(where_); }

  void wait(location where = location::current()) {
    detail::stand_at(where);
    (hiroba_wait)(&request_);
  }
  bool test(location where = location::current()) {
    int done = 0;
    detail::stand_at(where);
    (hiroba_test)(&request_, &done);
    return done != 0;
  }
  // Calls function() once it is complete, in any thread of this rank; it must not block. No wait follows.
  template <std::invocable F>
  void then(F function, location where = location::current()) {
    struct after {
      F function;
      std::shared_ptr<void> kept;
      static void run(void* self) noexcept { std::unique_ptr<after>(static_cast<after*>(self))->function(); }
    };
    auto* const next = new after{std::move(function), std::move(kept_)};
    detail::stand_at(where);
    (hiroba_then)(&request_, after::run, next);
  }

 private:
  friend int wait_any(std::span<started> all, location where);

  hiroba_request request_ = HIROBA_NO_REQUEST;
  std::shared_ptr<void> kept_;  // its operator
  location where_;
};

// Waits for one of them; returns its index, or -1 if all have been waited for.
inline int wait_any(std::span<started> all, location where = location::current()) {
  std::vector<hiroba_request> requests;
  for (const started& one : all) requests.push_back(one.request_);
  int index = -1;
  detail::stand_at(where);
  (hiroba_wait_any)(static_cast<int>(requests.size()), requests.data(), &index);
  if (index >= 0) all[static_cast<size_t>(index)].request_ = HIROBA_NO_REQUEST;
  return index;
}

}  // namespace hiroba
