// The result of an operation that can fail for a reason outside the program's control or by the user's doing.
// Policy (docs/hacking.md): a status travels inward to outward; the first who knows writes the message into it;
// callers pass it on unchanged. Asserts are for our own mistakes only.
#pragma once

#include <memory>
#include <string>

namespace hiroba {

// A word wide, and failures are cold, so that the code that succeeds stays together: what is spread over many pages and
// lines is what a message of 8 bytes waits for.
class [[nodiscard]] Status {
 public:
  Status() = default;  // success
  Status(const Status& other) { *this = other; }
  Status(Status&&) = default;
  Status& operator=(const Status& other) { return *this = other.ok() ? Status() : error(other.message()); }
  Status& operator=(Status&&) = default;
  [[gnu::cold]] static Status error(std::string message);

  bool ok() const { return message_ == nullptr; }
  [[gnu::cold]] const std::string& message() const;  // empty for success

 private:
  std::unique_ptr<const std::string> message_;
};

// printf into a std::string.
[[gnu::cold]] std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

}  // namespace hiroba

// Hands a failure to the caller.
#define HIROBA_TRY(expression)                  \
  do {                                          \
    ::hiroba::Status try_status = (expression); \
    if (!try_status.ok()) return try_status;    \
  } while (false)
