#include "memory/preloads.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"
#include "memory/page_runs.hpp"
#include "memory/parts.hpp"
#include "memory/section_pages.hpp"

namespace hiroba {

PageSet Preloads::here() const {
  return parts_.cache == nullptr ? PageSet() : PageSet(parts_.cache->copies.valid_runs());
}

void Preloads::start(const PageSet& pages, bool on_trial) {
  bool any = false;
  for (const PageRun& run : pages.runs()) {
    Array* const array = parts_.table.live(run.first);  // it may have been freed since
    if (array == nullptr || parts_.cache == nullptr) continue;
    const uint64_t end = std::min(array->end_page, run.first + run.pages);
    const PreloadTime time(array);
    any = parts_.cache->fetches.start_preload(*array, run.first, end, on_trial) || any;
  }
  if (any) parts_.transport->linger();
}

void Preloads::note() {
  if (parts_.cache != nullptr) parts_.cache->fetches.notes.begin();
}

PageSet Preloads::noted() {
  if (parts_.cache == nullptr) return {};
  std::vector<PageRun> runs = parts_.cache->fetches.notes.end();
  merge_runs(runs);
  return PageSet(std::move(runs));
}

PageSet Preloads::unused(const PageSet& pages) const {
  std::vector<PageRun> out;
  for (const PageRun& run : pages.runs())
    for (uint64_t page = run.first; page < run.first + run.pages; ++page)
      if (parts_.states.flag(page, PageStates::guessed)) out.push_back({page, 1});
  merge_runs(out);
  return PageSet(std::move(out));
}

void Preloads::wait() {
  if (parts_.cache != nullptr) finish(0, UINT64_MAX);
}

// The time counts for one of the arrays: programs that preload several at once use them at once.
void Preloads::finish(uint64_t first, uint64_t end) {
  PreloadTime time(recording() ? parts_.cache->fetches.array_under_way(first, end) : nullptr);
  time.waits();
  parts_.cache->fetches.finish(first, end);
}

namespace {

// A ticket is a run of pages: the first page, of fewer than 2^32, and their number, of which no cache has 2^31.
constexpr int count_bits = 31;
constexpr uint64_t most_pages = (uint64_t{1} << count_bits) - 1;

Preloads::Ticket ticket_of(const PageRun& run) { return run.first << count_bits | std::min(run.pages, most_pages); }
PageRun run_of(Preloads::Ticket ticket) { return {ticket >> count_bits, ticket & most_pages}; }

}  // namespace

void Preloads::wait(Ticket ticket) {
  const PageRun run = run_of(ticket);
  if (parts_.cache != nullptr && run.pages > 0) finish(run.first, run.first + run.pages);
}

bool Preloads::test(Ticket ticket) {
  const PageRun run = run_of(ticket);
  return parts_.cache == nullptr || run.pages == 0 ||
         parts_.cache->fetches.have_ended(run.first, run.first + run.pages);
}

Status Preloads::start(const void* data, std::span<const Range> ranges, Ticket* ticket) {
  Array* array = nullptr;
  HIROBA_TRY(parts_.arrays.find(data, array));
  const PreloadTime time(array);
  Section section;
  HIROBA_TRY(section_of(*array, ranges, section));
  PageRun pages = {0, 0};
  if (parts_.cache != nullptr && !section.empty() && start_box(*array, section, pages)) parts_.transport->linger();
  if (ticket != nullptr) *ticket = ticket_of(pages);
  return {};
}

Status Preloads::start(const Section& section) {
  Array* array = nullptr;
  HIROBA_TRY(parts_.arrays.find(section.address, array));
  const PreloadTime time(array);
  if (section.empty()) return {};
  Section rising = section;  // the same bytes, by strides that are positive, the largest first
  rising.address += section.bounds().low;
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (int d = 0; d < section.dims; ++d) dims.emplace_back(std::abs(section.stride[d]), section.count[d]);
  std::sort(dims.rbegin(), dims.rend());
  rising.dims = 0;
  for (const auto& [stride, count] : dims) rising.add(count, stride);
  const char* const last = rising.end() - 1;
  if (rising.address < array->data || last >= array->data + array->distribution.bytes())
    return Status::error("the section has an element that is " +
                         parts_.arrays.explain(rising.address < array->data ? rising.address : last));
  PageRun pages = {0, 0};
  if (parts_.cache != nullptr && start_box(*array, rising, pages)) parts_.transport->linger();
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
  const PreloadTime time(array);
  if (parts_.cache != nullptr &&
      parts_.cache->fetches.start_preload(*array, parts_.page_of(address), parts_.page_of(last) + 1))
    parts_.transport->linger();
  return {};
}

}  // namespace hiroba
