// The executable of this process, and its shared libraries, as they lie in memory. What is linked so that it lies in
// the address range can share its global variables (Arrays::Request::adopts): an executable at the start of the range,
// and libraries in a part of it that is for them if there is such an executable.
#pragma once

#include <link.h>

#include <cstdint>

#include "base/shown.hpp"
#include "memory/layout.hpp"

namespace hiroba {

struct Program {
  uint64_t begin = 0, end = 0;  // all of it
  uint64_t data = 0;            // from here to `end` lie the variables that can be written; a multiple of the page size
  bool has(uint64_t address) const { return address >= begin && address < end; }
};

[[HIROBA_SHOWN]] Program this_program();
// The same for what the dynamic linker has loaded.
[[HIROBA_SHOWN]] Program program_of(const dl_phdr_info& object);
// Maps zeros between the segments from `data` to `end`, so that all can be read; returns false if the system refuses
// that.
[[HIROBA_SHOWN]] bool fill_gaps(const Program& program);

// hirobacc links each library for an address of its own here.
constexpr uint64_t libraries_begin = shared_base + (uint64_t{512} << 30),
                   libraries_end = shared_base + (uint64_t{1024} << 30);

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
