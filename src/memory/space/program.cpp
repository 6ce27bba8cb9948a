#include "memory/space/program.hpp"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>

#include "memory/layout.hpp"

namespace hiroba {

constinit thread_local bool in_program __attribute__((tls_model("initial-exec"))) = false;

namespace {

uint64_t round_up(uint64_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

struct Gaps {
  const Program& program;
  bool failed = false;
};

int fill(dl_phdr_info* object, size_t, void* out) {
  Gaps& gaps = *static_cast<Gaps*>(out);
  if (program_of(*object).begin != gaps.program.begin) return 0;
  uint64_t end = gaps.program.data;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const uint64_t at = object->dlpi_addr + header.p_vaddr, first = at / page_bytes * page_bytes;
    constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (first > end &&
        mmap(reinterpret_cast<void*>(end), first - end, PROT_READ | PROT_WRITE, kind, -1, 0) == MAP_FAILED)
      gaps.failed = true;
    end = std::max(end, round_up(at + header.p_memsz));
  }
  return 1;
}

// The first object is the executable.
int read_first(dl_phdr_info* object, size_t, void* out) {
  *static_cast<Program*>(out) = program_of(*object);
  return 1;
}

}  // namespace

// The part that the dynamic linker has relocated and then made read-only (RELRO) lies before the variables, and ends at
// a page. Large variables, of -mcmodel=medium, may have a segment of their own after the others.
Program program_of(const dl_phdr_info& object) {
  Program program;
  program.begin = UINT64_MAX;
  uint64_t first_written = UINT64_MAX, read_only = 0;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    const uint64_t at = object.dlpi_addr + header.p_vaddr, end = at + header.p_memsz;
    if (header.p_type == PT_GNU_RELRO) read_only = round_up(end);
    if (header.p_type != PT_LOAD) continue;
    program.begin = std::min(program.begin, at / page_bytes * page_bytes);
    program.end = std::max(program.end, round_up(end));
    if ((header.p_flags & PF_W) != 0) first_written = std::min(first_written, at / page_bytes * page_bytes);
  }
  program.data = first_written == UINT64_MAX ? program.end : std::max(first_written, read_only);
  return program;
}

bool fill_gaps(const Program& program) {
  Gaps gaps{program};
  dl_iterate_phdr(fill, &gaps);
  return !gaps.failed;
}

Program this_program() {
  Program program;
  dl_iterate_phdr(read_first, &program);
  return program;
}

}  // namespace hiroba
