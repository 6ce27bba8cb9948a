#include "memory/preloads.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "memory/parts.hpp"

namespace hiroba {

PageSet Preloads::here() const {
  return parts_.cache == nullptr ? PageSet() : PageSet(parts_.cache->copies.valid_runs());
}

void Preloads::start(const PageSet& pages) {
  bool any = false;
  for (const PageRun& run : pages.runs()) {
    Array* const array = parts_.table.live(run.first);  // may have been freed since
    if (array == nullptr || parts_.cache == nullptr) continue;
    any =
        parts_.cache->fetches.start_preload(*array, run.first, std::min(array->end_page, run.first + run.pages)) || any;
  }
  if (any) parts_.transport->linger();
}

void Preloads::wait() {
  if (parts_.cache != nullptr) parts_.cache->fetches.finish();
}

// A ticket is a run of pages: the first, and 32 bits of how many. A space has fewer than 2^32.
void Preloads::wait(Ticket ticket) {
  const uint64_t first = ticket >> 32, pages = ticket & UINT32_MAX;
  if (parts_.cache != nullptr && pages > 0) parts_.cache->fetches.finish(first, first + pages);
}

Status Preloads::start(const void* data, std::span<const Range> section, Ticket* ticket) {
  Array* array = nullptr;
  HIROBA_TRY(parts_.arrays.find(data, array));
  const Distribution& d = array->distribution;
  bool empty = false;
  for (int i = 0; i < d.dims(); ++i) {
    const Range& r = section[static_cast<size_t>(i)];
    empty = empty || r.length == 0;
    // Compared without multiplying, so that nothing overflows.
    const bool fits = r.base >= 0 && r.length >= 0 && r.step >= 1 && r.base <= d.dim(i) &&
                      (r.length == 0 || (r.base < d.dim(i) && (r.length - 1) <= (d.dim(i) - 1 - r.base) / r.step));
    if (!fits)
      return Status::error(
          format("section %lld:%lld:%lld of dimension %d of array %s is outside 0..%lld (base:length:step)",
                 static_cast<long long>(r.base), static_cast<long long>(r.length), static_cast<long long>(r.step), i,
                 array->name, static_cast<long long>(d.dim(i) - 1)));
  }
  PageRun pages = {0, 0};
  if (parts_.cache != nullptr && !empty && start_box(*array, section, pages)) parts_.transport->linger();
  if (ticket != nullptr) *ticket = pages.first << 32 | pages.pages;
  return {};
}

// Dimensions that are taken whole and lie inside are one run of bytes with the next outer one. True if anything is on
// its way.
bool Preloads::start_box(Array& array, std::span<const Range> section, PageRun& run_of_all) {
  const Distribution& d = array.distribution;
  int inner = d.dims() - 1;
  int64_t stride = static_cast<int64_t>(d.element_bytes());  // bytes from one index of `inner` to the next
  while (inner > 0 && section[static_cast<size_t>(inner)].length == d.dim(inner)) stride *= d.dim(inner--);
  const Range& run = section[static_cast<size_t>(inner)];
  const bool solid = run.step == 1 || run.step * stride <= least_gap;
  const int outer = solid ? inner : inner + 1;  // dimensions [0, outer) are walked index by index
  const int64_t run_bytes = solid ? ((run.length - 1) * run.step + 1) * stride : stride;
  std::array<int64_t, Distribution::max_dims> index{};
  uint64_t next = 0;  // pages below this are done
  bool any = false;
  for (;;) {
    int64_t offset = solid ? run.base * stride : 0, step = stride;
    for (int i = inner; i >= 0; --i) {
      const Range& r = section[static_cast<size_t>(i)];
      if (i < outer) offset += (r.base + index[static_cast<size_t>(i)] * r.step) * step;
      step *= d.dim(i);
    }
    const uint64_t first = parts_.page_of(array.data + offset),
                   end = parts_.page_of(array.data + offset + run_bytes - 1) + 1;
    if (end > next) any = parts_.cache->fetches.start_preload(array, std::max(first, next), end) || any;
    if (next == 0) run_of_all.first = first;
    next = std::max(next, end);
    run_of_all.pages = next - run_of_all.first;
    int i = outer - 1;
    while (i >= 0 && ++index[static_cast<size_t>(i)] == section[static_cast<size_t>(i)].length)
      index[static_cast<size_t>(i--)] = 0;
    if (i < 0) return any;
  }
}

Status Preloads::start_bytes(const void* address, size_t bytes) {
  if (bytes == 0) return {};
  Array* array = nullptr;
  HIROBA_TRY(parts_.arrays.find(address, array));
  const char* const last = static_cast<const char*>(address) + bytes - 1;
  if (last < static_cast<const char*>(address) || last >= array->data + array->distribution.bytes())
    return Status::error("preload of " + show_bytes(bytes) + " is " + parts_.arrays.explain(last));
  if (parts_.cache != nullptr &&
      parts_.cache->fetches.start_preload(*array, parts_.page_of(address), parts_.page_of(last) + 1))
    parts_.transport->linger();
  return {};
}

}  // namespace hiroba
