#include "memory/space/space.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "base/limits.hpp"
#include "base/machine/host.hpp"
#include "base/text.hpp"
#include "memory/layout.hpp"
#include "memory/space/program.hpp"

namespace hiroba {

namespace {
char* const preferred_base = reinterpret_cast<char*>(shared_base);

// Returns what this process has mapped within [begin, begin + bytes): a line of /proc/self/maps; "" if nothing is
// found.
std::string mapped_at(const char* begin, uint64_t bytes) {
  FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return "";
  const uint64_t from = reinterpret_cast<uint64_t>(begin);
  unsigned long long first = 0, end = 0;
  std::string found;
  for (char line[512]; found.empty() && std::fgets(line, sizeof line, maps) != nullptr;)
    if (std::sscanf(line, "%llx-%llx", &first, &end) == 2 && first < from + bytes && end > from)
      found.assign(line, std::strcspn(line, "\n"));
  std::fclose(maps);
  return found;
}

// Returns the bytes at the start of the range that the executable and its libraries have. The C library's allocator
// takes the addresses after the executable by brk() until other addresses follow.
uint64_t bytes_of_program(uint64_t extent) {
  constexpr uint64_t room = uint64_t{64} << 20;
  const Program program = this_program();
  if (program.begin < shared_base || program.begin >= shared_base + extent) return 0;
  if (extent > libraries_end - shared_base) return libraries_end - shared_base;
  return (program.end - shared_base + room + Space::unit - 1) / Space::unit * Space::unit;
}

}  // namespace

Space::~Space() {
  if (base_ == nullptr) return;
  constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  char* const first = base_ + reserved_from_;
  const uint64_t bytes = extent_ - reserved_from_;
  if (!stays_ || mmap(first, bytes, PROT_NONE, kind, -1, 0) == MAP_FAILED) munmap(first, bytes);
}

Status Space::reserve(uint64_t shared, uint64_t extent, uint64_t heap) {
  const uint64_t program = bytes_of_program(extent);
  char* const first = preferred_base + program;
  const uint64_t bytes = extent - program;
  void* const at =
      mmap(first, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at != first) {
    const bool taken = at != MAP_FAILED || errno == EEXIST;
    if (at != MAP_FAILED) munmap(at, bytes);  // kernels before 4.17 return other addresses
    const std::string why =
        taken ? "all ranks need the same, and here something is mapped among them: " + mapped_at(first, bytes) +
                    "; a preloaded library, or a tool?"
              : explain_error(errno);
    return Status::error("host %s cannot reserve %s of addresses at %p (%s)", host_name().c_str(),
                         show_bytes(extent).c_str(), static_cast<void*>(preferred_base), why.c_str());
  }
  madvise(at, bytes, MADV_DONTDUMP);
  base_ = preferred_base;
  reserved_from_ = program, next_ = std::max(next_, program);
  shared_ = shared;
  arrays_ = shared - heap;
  extent_ = extent;
  return {};
}

Status Space::no_room(uint64_t bytes) const {
  return Status::error("no room for %s in the address range of %s (option space)", show_bytes(bytes).c_str(),
                       show_bytes(arrays_).c_str());
}

Status Space::check(uint64_t bytes) const { return bytes <= arrays_ ? Status() : no_room(bytes); }

Status Space::take(uint64_t bytes, uint64_t start, uint64_t& offset) {
  const uint64_t units = (start + bytes + 1 + unit - 1) / unit * unit;  // + 1: at least a page stays free
  if (next_ + units <= arrays_) {
    offset = next_;
    next_ += units;
  } else if (!given_.take(units, unit, offset)) {
    return no_room(bytes);
  }
  taken_[offset] = units;
  offset += start;
  return {};
}

void Space::give(uint64_t offset) {
  offset = offset / unit * unit;
  given_.add(offset, taken_.extract(offset).mapped());
}

Space::Room Space::room_of(uint64_t offset) const {
  const auto here = taken_.find(offset / unit * unit), after = std::next(here);
  const bool is_first = here == taken_.begin();
  return {is_first ? reserved_from_ : std::prev(here)->first + std::prev(here)->second,
          after == taken_.end() ? next_ : after->first};
}

Status Space::clear(uint64_t offset, uint64_t bytes) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  void* const at = mmap(base_ + offset, bytes, PROT_NONE, flags, -1, 0);
  // With the flags of the reserved range around, it becomes one mapping with it: their number is limited.
  if (at != MAP_FAILED) return madvise(at, bytes, MADV_DONTDUMP), Status();
  return Status::error("cannot unmap %s of shared array (%s)", show_bytes(bytes).c_str(), explain_error(errno).c_str());
}

}  // namespace hiroba
