// The result of an operation that can fail for a reason outside the program's control or by the user's doing.
// Policy (docs/hacking.md): a status travels inward to outward; the first who knows writes the message into it;
// callers pass it on unchanged. Asserts are for our own mistakes only.
#pragma once

#include <string>
#include <utility>

namespace hiroba {

class [[nodiscard]] Status {
 public:
  Status() = default;  // success
  static Status error(std::string message) { return Status(std::move(message)); }

  bool ok() const { return message_.empty(); }
  const std::string& message() const { return message_; }

 private:
  explicit Status(std::string message) : message_(std::move(message)) {}
  std::string message_;
};

// printf into a std::string.
std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

}  // namespace hiroba

// Hands a failure to the caller.
#define HIROBA_TRY(expression)                  \
  do {                                          \
    ::hiroba::Status try_status = (expression); \
    if (!try_status.ok()) return try_status;    \
  } while (false)
