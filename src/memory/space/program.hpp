// The executable of this process, as it lies in memory. An executable that is linked so that it lies at the start of
// the address range can share its global variables (Arrays::Request::adopts).
#pragma once

#include <cstdint>

#include "base/shown.hpp"

namespace hiroba {

struct Program {
  uint64_t begin = 0, end = 0;  // all of it
  uint64_t data = 0;            // from here to `end` lie the variables that can be written; a multiple of the page size
};

[[HIROBA_SHOWN]] Program this_program();

// True while this thread runs code of a program whose allocations are shared memory (src/openmp). What the library
// allocates must never be.
[[HIROBA_SHOWN]] extern constinit thread_local bool in_program __attribute__((tls_model("initial-exec")));

// While it lives, this thread runs code of the library.
class InLibrary {
 public:
  InLibrary() : before_(in_program) { in_program = false; }
  InLibrary(const InLibrary&) = delete;
  ~InLibrary() { in_program = before_; }

 private:
  bool before_;
};

}  // namespace hiroba
