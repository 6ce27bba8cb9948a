// Error messages that name the limit of the machine and its value, so that a user can change it.
#pragma once

#include <cstdint>
#include <string>

#include "base/shown.hpp"
#include "base/status.hpp"

namespace hiroba {

// Returns the system's text for `error` (an errno), with the limit that may be its cause: "Too many open files; ulimit
// -n is 1024".
[[HIROBA_SHOWN]] std::string explain_error(int error);

// Returns ulimit -v in bytes; UINT64_MAX if there is none.
uint64_t address_limit();

// Returns ulimit -l as text: "64 KiB", "unlimited".
std::string locked_memory_limit();

// Makes a file at least as large. Beyond `ulimit -f` it returns an error instead of a signal that ends the process
// without a message.
Status size_file(int fd, uint64_t bytes, const char* what);

}  // namespace hiroba
