#include "memory/space/system_access.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "memory/parts.hpp"
#include "memory/space/program.hpp"

namespace hiroba {

bool SystemAccess::may_need(const void* address, size_t bytes) const {
  if (bytes == 0 || (parts_.cache == nullptr && !parts_.races.on() && !parts_.touches.used())) return false;
  return parts_.space.contains(address) || parts_.space.contains(static_cast<const char*>(address) + bytes - 1);
}

size_t SystemAccess::bring(const char* address, size_t bytes, bool to_write) {
  const InLibrary library;
  if (parts_.cache != nullptr)
    bytes = std::min(bytes, static_cast<size_t>(parts_.cache->copies.config().most_at_once()) * page_bytes);
  if (parts_.races.on())
    parts_.races.recorder().access(address, bytes, to_write ? AccessRecord::write : AccessRecord::read,
                                   calling_place());
  if (parts_.cache == nullptr && !parts_.touches.used()) return bytes;
  const uint64_t first = parts_.page_of(address), end = parts_.page_of(address + bytes - 1) + 1;
  // It waits for these pages only, because a network library may call this while it is polled, with a buffer on a stack
  // in shared memory; other fetches end by polling it.
  if (parts_.cache != nullptr && parts_.preloads.start_bytes(address, bytes).ok())
    parts_.cache->fetches.finish(first, end);
  // This thread accesses the bytes as the program would, in case the preload found no room or the page is watched.
  for (size_t at = 0; at < bytes; at += page_bytes) (void)*static_cast<const volatile char*>(address + at);
  (void)*static_cast<const volatile char*>(address + bytes - 1);
  Array* const array = to_write ? parts_.table.live(first) : nullptr;
  if (array == nullptr || parts_.cache == nullptr) return bytes;
  parts_.cache->copies.closed.open(*array, first, std::min(array->end_page, end), parts_.states);
  if (array->closable) parts_.home_writes.quiet().open(first, std::min(array->end_page, end));
  return bytes;
}

Status SystemAccess::bring_all(const void* address, size_t bytes, bool to_write) {
  const InLibrary library;
  const char* const begin = static_cast<const char*>(address);
  // A quarter of the cache: the same call may have another buffer, and the program's own pages need some.
  const size_t most = parts_.cache == nullptr
                          ? SIZE_MAX
                          : static_cast<size_t>(parts_.cache->copies.config().limit_pages) * page_bytes / 4;
  size_t away = 0;
  for (size_t at = 0; bytes > most && at < bytes; at += page_bytes)
    away += parts_.arrays.may_fault(begin + at, 1) ? page_bytes : 0;
  if (away > most)
    return Status::error(
        "%s of shared memory of other nodes, but the cache has room for %s in one buffer; move it in parts, use "
        "private memory, or start the program with --cache %zuM",
        show_bytes(away).c_str(), show_bytes(most).c_str(), (4 * away >> 20) + 1);
  for (size_t done = 0; done < bytes;) done += bring(begin + done, bytes - done, to_write);
  return {};
}

}  // namespace hiroba
