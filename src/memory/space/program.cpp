#include "memory/space/program.hpp"

#include <link.h>

#include <algorithm>

#include "memory/layout.hpp"

namespace hiroba {

constinit thread_local bool in_program __attribute__((tls_model("initial-exec"))) = false;

namespace {

uint64_t round_up(uint64_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

// The first object is the executable.
int read_first(dl_phdr_info* object, size_t, void* out) {
  *static_cast<Program*>(out) = program_of(*object);
  return 1;
}

}  // namespace

// The part that the dynamic linker has relocated and then made read-only (RELRO) lies before the variables, and ends at
// a page.
Program program_of(const dl_phdr_info& object) {
  Program program;
  program.begin = UINT64_MAX;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    const uint64_t at = object.dlpi_addr + header.p_vaddr, end = at + header.p_memsz;
    if (header.p_type == PT_GNU_RELRO) program.data = std::max(program.data, round_up(end));
    if (header.p_type != PT_LOAD) continue;
    program.begin = std::min(program.begin, at / page_bytes * page_bytes);
    program.end = std::max(program.end, round_up(end));
    if ((header.p_flags & PF_W) != 0) program.data = std::max(program.data, at / page_bytes * page_bytes);
  }
  return program;
}

Program this_program() {
  Program program;
  dl_iterate_phdr(read_first, &program);
  return program;
}

}  // namespace hiroba
