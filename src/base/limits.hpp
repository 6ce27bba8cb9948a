// Errors from limits of the machine, with the limit and its value, so that a user can change it.
#pragma once

#include <cstdint>
#include <string>

#include "base/shown.hpp"
#include "base/status.hpp"

namespace hiroba {

// The system's words for `error` (an errno), with the limit that may be its cause: "Too many open files; ulimit -n is
// 1024".
[[HIROBA_SHOWN]] std::string explain_error(int error);

// ulimit -l: "64 KiB", "unlimited".
std::string locked_memory_limit();

// ftruncate; but beyond `ulimit -f` it is an error, and not a signal that ends the process without a message.
Status size_file(int fd, uint64_t bytes, const char* what);

}  // namespace hiroba
