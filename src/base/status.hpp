// The result of an operation that can fail for a reason outside the program's control or because of the user. Policy
// (docs/hacking.md): the function that detects an error writes the message into a status; its callers return it
// unchanged. Asserts are for errors in this library only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "base/shown.hpp"

namespace hiroba {

// The object is one word wide and failures are cold, so that the code without errors is contiguous: the latency of an
// 8-byte message depends on the number of code pages and cache lines.
class [[nodiscard]] Status {
 public:
  Status() = default;  // success
  Status(const Status& other) { *this = other; }
  Status(Status&&) = default;
  Status& operator=(const Status& other) { return *this = other.ok() ? Status() : error(other.message()); }
  Status& operator=(Status&&) = default;
  [[gnu::cold, HIROBA_SHOWN]] static Status error(std::string message);
  // Formats the message as printf does; %ld is for int64_t.
  [[gnu::cold, HIROBA_SHOWN]] static Status error(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

  bool ok() const { return message_ == nullptr; }
  [[gnu::cold, HIROBA_SHOWN]] const std::string& message() const;  // empty for success

 private:
  std::unique_ptr<const std::string> message_;
};

static_assert(std::is_same_v<int64_t, long>);
// Formats as printf does, into a std::string.
[[gnu::cold, HIROBA_SHOWN]] std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

}  // namespace hiroba

// Returns from the calling function if the status is a failure.
#define HIROBA_TRY(expression)                  \
  do {                                          \
    ::hiroba::Status try_status = (expression); \
    if (!try_status.ok()) return try_status;    \
  } while (false)
