#include "memory/space.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/limits.hpp"
#include "base/text.hpp"

namespace hiroba {

namespace {
// Far from where Linux puts programs, heaps, stacks and libraries, and from the shadow of the address sanitizer.
char* const preferred_base = reinterpret_cast<char*>(uint64_t{0x2000} << 32);
}  // namespace

Space::~Space() {
  if (base_ != nullptr) munmap(base_, extent_);
}

Status Space::reserve(uint64_t arrays, uint64_t extent) {
  void* const at =
      mmap(preferred_base, extent, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at != preferred_base) {
    const std::string why = at == MAP_FAILED ? explain_error(errno) : "this kernel ignores MAP_FIXED_NOREPLACE";
    if (at != MAP_FAILED) munmap(at, extent);
    return Status::error(format("cannot reserve %s of addresses at %p (%s); a smaller option space may help",
                                show_bytes(extent).c_str(), static_cast<void*>(preferred_base), why.c_str()));
  }
  madvise(at, extent, MADV_DONTDUMP);
  base_ = preferred_base;
  arrays_ = arrays;
  extent_ = extent;
  return {};
}

Status Space::take(uint64_t bytes, uint64_t& offset) {
  const uint64_t stagger = takes_++ % stagger_steps * stagger_bytes;
  const uint64_t units = (stagger + bytes + 1 + unit - 1) / unit * unit;  // + 1: a page at least stays free
  if (next_ + units <= arrays_) {
    offset = next_;
    next_ += units;
  } else {
    auto fit = given_.begin();
    while (fit != given_.end() && fit->second < units) ++fit;
    if (fit == given_.end())
      return Status::error(format("no room for %s in the address range of %s (option space)", show_bytes(bytes).c_str(),
                                  show_bytes(arrays_).c_str()));
    offset = fit->first;
    const uint64_t rest = fit->second - units;
    given_.erase(fit);
    if (rest > 0) given_[offset + units] = rest;
  }
  taken_[offset] = units;
  offset += stagger;
  return {};
}

void Space::give(uint64_t offset) {
  offset = offset / unit * unit;
  auto node = taken_.extract(offset);
  uint64_t bytes = node.mapped();
  const auto after = given_.lower_bound(offset);
  if (after != given_.end() && after->first == offset + bytes) bytes += after->second, given_.erase(after);
  const auto next = given_.lower_bound(offset);
  if (next != given_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return;
    }
  }
  given_[offset] = bytes;
}

Status Space::clear(uint64_t offset, uint64_t bytes) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(base_ + offset, bytes, PROT_NONE, flags, -1, 0) != MAP_FAILED) return {};
  return Status::error(
      format("cannot unmap %s of shared array (%s)", show_bytes(bytes).c_str(), explain_error(errno).c_str()));
}

}  // namespace hiroba
