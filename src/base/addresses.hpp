// Reserves ranges of addresses and collapses memory into huge pages. A reserved range uses addresses only, no memory.
#pragma once

#include <sys/mman.h>

#include <cstdint>

namespace hiroba {

constexpr uint64_t huge_page_bytes = uint64_t{2} << 20;

// Returns an inaccessible range that begins at a multiple of huge_page_bytes, so that files mapped into it at equal
// offsets can use huge pages; nullptr if there is none.
inline char* reserve_addresses(uint64_t bytes) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const at = mmap(nullptr, bytes + huge_page_bytes, PROT_NONE, flags, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  const uint64_t begin = reinterpret_cast<uint64_t>(at);
  const uint64_t aligned = (begin + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
  if (aligned > begin) munmap(at, aligned - begin);
  munmap(reinterpret_cast<void*>(aligned + bytes), begin + huge_page_bytes - aligned);
  return reinterpret_cast<char*>(aligned);
}

// Collapses the whole huge pages of mapped memory; returns false if the kernel cannot (before Linux 6.1) or has none
// left. It ignores the system's settings for transparent huge pages and leaves the data unchanged.
inline bool collapse(char* address, uint64_t bytes) {
  constexpr int madv_collapse = 25;  // the headers of old systems do not define it
  return madvise(address, bytes, madv_collapse) == 0;
}

// Collapses huge pages of a file, in all its mappings; holes then use memory.
inline bool collapse_file(int fd, uint64_t offset, uint64_t bytes) {
  char* const window = reserve_addresses(bytes);
  if (window == nullptr) return false;
  const bool gathered = mmap(window, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
                             static_cast<off_t>(offset)) != MAP_FAILED &&
                        collapse(window, bytes);
  munmap(window, bytes);
  return gathered;
}

}  // namespace hiroba
