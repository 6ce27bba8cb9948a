// transaction.hpp: transactions in C++, on top of transaction.h, which says what is promised.
//
//   hiroba::shared_value<int64_t>* account = ...;              // in shared memory
//   const int64_t rest = hiroba::atomically([&] {
//     account[a] -= amount, account[b] += amount;
//     return account[a].load();
//   });
//   hiroba::atomically([&] { if (queue->empty()) hiroba::retry(); ... });
//   hiroba::or_else([&] { ...; hiroba::retry(); }, [&] { ... });
//
// A block that conflicts runs again; it is left by an exception of the library that it must not keep: a handler
// catch (...) in it has to throw it on. So destructors of its objects run. An exception of the program that leaves the
// outermost block undoes it and arrives at the caller, or, with commit_on_exception, commits it first. A block in a
// block undoes nothing by itself, unless it is an alternative of or_else, or nested(): its exception undoes it alone.
#pragma once

#include <cstring>
#include <source_location>
#include <type_traits>
#include <utility>

#include "place.hpp"
#include "transaction.h"

namespace hiroba {

namespace detail {

struct conflict {};  // thrown when the outermost block is to run again
struct wants_retry {};

[[noreturn]] inline void throw_conflict(hiroba_tx_frame*) { throw conflict(); }

// Calls a function, then `end`; returns what the function has returned.
template <typename Function, typename End>
auto call_then(Function& function, const End& end) {
  if constexpr (std::is_void_v<decltype(function())>) {
    function();
    end();
  } else {
    auto result = function();
    end();
    return result;
  }
}

}  // namespace detail

// An abort by the program: throw it, or call abort(value).
struct transaction_aborted {
  int value;
};

enum class on_exception { abort, commit };
inline constexpr on_exception commit_on_exception = on_exception::commit;

// Runs the function as a transaction, and returns its result.
template <typename Function>
auto atomically(Function&& function, on_exception choice = on_exception::abort,
                std::source_location where = std::source_location::current()) -> decltype(function()) {
  if (hiroba_tx_depth() > 0) return function();
  const detail::place place(where);
  hiroba_tx_frame frame;
  frame.restart = detail::throw_conflict, frame.place = place, frame.open = 1, frame.value = 0;
  frame.calls_checked = 0;
  for (;;) {
    if (hiroba_tx_begin(&frame) == 0) throw transaction_aborted{frame.value};
    try {
      return detail::call_then(function, [&] { hiroba_tx_commit(&frame); });
    } catch (const detail::conflict&) {  // undone already
    } catch (const detail::wants_retry&) {
      hiroba_tx_await(&frame);
    } catch (...) {
      // The commit may conflict in its turn; then the exception counts for nothing.
      if (choice == on_exception::abort) {
        hiroba_tx_cancel(&frame);
        throw;
      }
      bool committed = true;
      try {
        hiroba_tx_commit(&frame);
      } catch (const detail::conflict&) {
        committed = false;
      }
      if (committed) throw;
    }
  }
}

// Undoes the transaction, or the alternative of or_else, and runs it again when something that it has read has changed.
[[noreturn]] inline void retry() { throw detail::wants_retry(); }
// Undoes the transaction and leaves it, by an exception.
[[noreturn]] inline void abort(int value) { throw transaction_aborted{value}; }
inline void irrevocable() { hiroba_tx_irrevocable(); }

// Runs the function in a transaction; an exception of it undoes what it has done, and nothing else.
template <typename Function>
auto nested(Function&& function) -> decltype(function()) {
  if (hiroba_tx_depth() == 0) return atomically(function);
  hiroba_tx_savepoint before;
  hiroba_tx_save(&before);
  try {
    return detail::call_then(function, [&] { hiroba_tx_release(&before); });
  } catch (const detail::conflict&) {
    throw;
  } catch (...) {
    hiroba_tx_undo(&before);
    throw;
  }
}

// Runs the first function, or, if it calls retry(), the second one in its place. If both do, all waits for a change.
template <typename First, typename Second>
auto or_else(First&& first, Second&& second) -> decltype(first()) {
  return atomically([&]() -> decltype(first()) {
    try {
      return nested(first);
    } catch (const detail::wants_retry&) {
    }
    return second();
  });
}

// An object in memory that transactions use. Each use outside of a transaction is one of its own.
template <typename T>
class shared_value {
  static_assert(std::is_trivially_copyable_v<T>, "transactions copy bytes");

 public:
  shared_value() = default;
  explicit shared_value(const T& value) : value_(value) {}  // plain: nobody else uses it yet
  shared_value(const shared_value&) = delete;
  shared_value& operator=(const shared_value& other) { return store(other.load()), *this; }

  T load() const {
    if constexpr (sizeof(T) == 8 && alignof(T) == 8)
      return of(hiroba_tx_load_uint64(reinterpret_cast<const uint64_t*>(&value_)));
    else if constexpr (sizeof(T) == 4 && alignof(T) == 4)
      return of(hiroba_tx_load_uint32(reinterpret_cast<const uint32_t*>(&value_)));
    else if constexpr (sizeof(T) == 2 && alignof(T) == 2)
      return of(hiroba_tx_load_uint16(reinterpret_cast<const uint16_t*>(&value_)));
    else if constexpr (sizeof(T) == 1) return of(hiroba_tx_load_uint8(reinterpret_cast<const uint8_t*>(&value_)));
    else {
      Bytes bytes;
      hiroba_tx_read(&bytes, &value_, sizeof(T));
      return of(bytes);
    }
  }
  void store(const T& value) {
    if constexpr (sizeof(T) == 8 && alignof(T) == 8)
      hiroba_tx_store_uint64(reinterpret_cast<uint64_t*>(&value_), bits<uint64_t>(value));
    else if constexpr (sizeof(T) == 4 && alignof(T) == 4)
      hiroba_tx_store_uint32(reinterpret_cast<uint32_t*>(&value_), bits<uint32_t>(value));
    else if constexpr (sizeof(T) == 2 && alignof(T) == 2)
      hiroba_tx_store_uint16(reinterpret_cast<uint16_t*>(&value_), bits<uint16_t>(value));
    else if constexpr (sizeof(T) == 1) hiroba_tx_store_uint8(reinterpret_cast<uint8_t*>(&value_), bits<uint8_t>(value));
    else hiroba_tx_write(&value_, &value, sizeof(T));
  }
  operator T() const { return load(); }
  T operator->() const
    requires std::is_pointer_v<T>
  {
    return load();
  }
  shared_value& operator=(const T& value) { return store(value), *this; }
  // Two accesses: atomic in a transaction only.
  template <typename U>
  shared_value& operator+=(const U& more) {
    return store(static_cast<T>(load() + more)), *this;
  }
  template <typename U>
  shared_value& operator-=(const U& less) {
    return store(static_cast<T>(load() - less)), *this;
  }

  // For its user alone: before it is published, or after it is private.
  T& plain() { return value_; }
  const T& plain() const { return value_; }

 private:
  struct alignas(T) Bytes {
    unsigned char bytes[sizeof(T)];
  };
  template <typename Bits>
  static T of(const Bits& raw) {
    return __builtin_bit_cast(T, raw);
  }
  template <typename Bits>
  static Bits bits(const T& value) {
    return __builtin_bit_cast(Bits, value);
  }

  T value_;
};

}  // namespace hiroba
