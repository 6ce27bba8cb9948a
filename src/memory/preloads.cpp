#include "memory/preloads.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "memory/parts.hpp"
#include "memory/section_pages.hpp"

namespace hiroba {

PageSet Preloads::here() const {
  return parts_.cache == nullptr ? PageSet() : PageSet(parts_.cache->copies.valid_runs());
}

void Preloads::start(const PageSet& pages) {
  bool any = false;
  for (const PageRun& run : pages.runs()) {
    Array* const array = parts_.table.live(run.first);  // it may have been freed since
    if (array == nullptr || parts_.cache == nullptr) continue;
    any =
        parts_.cache->fetches.start_preload(*array, run.first, std::min(array->end_page, run.first + run.pages)) || any;
  }
  if (any) parts_.transport->linger();
}

void Preloads::wait() {
  if (parts_.cache != nullptr) parts_.cache->fetches.finish();
}

// A ticket is a run of pages: the first page, and their number in 32 bits. A space has fewer than 2^32.
void Preloads::wait(Ticket ticket) {
  const uint64_t first = ticket >> 32, pages = ticket & UINT32_MAX;
  if (parts_.cache != nullptr && pages > 0) parts_.cache->fetches.finish(first, first + pages);
}

Status Preloads::start(const void* data, std::span<const Range> ranges, Ticket* ticket) {
  Array* array = nullptr;
  HIROBA_TRY(parts_.arrays.find(data, array));
  Section section;
  HIROBA_TRY(section_of(*array, ranges, section));
  PageRun pages = {0, 0};
  if (parts_.cache != nullptr && !section.empty() && start_box(*array, section, pages)) parts_.transport->linger();
  if (ticket != nullptr) *ticket = pages.first << 32 | pages.pages;
  return {};
}

// True if anything is on its way.
bool Preloads::start_box(Array& array, const Section& section, PageRun& run_of_all) {
  bool any = false;
  run_of_all = {};
  for_each_page_run(array, section, least_gap, [&](uint64_t first, uint64_t end) {
    any = parts_.cache->fetches.start_preload(array, first, end) || any;
    if (run_of_all.pages == 0) run_of_all.first = first;
    run_of_all.pages = end - run_of_all.first;
  });
  return any;
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
