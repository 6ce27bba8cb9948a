#include "memory/record/array_record.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "memory/array_table.hpp"

namespace hiroba {

namespace {

bool is_continued(const ArrayRecord& record, const Array& array) {
  return record.used.load(std::memory_order_relaxed) != 0 && record.freed != 0 &&
         record.pages == array.end_page - array.first_page && std::strcmp(record.name, array.name) == 0;
}

// Two threads that see the array first at once may both take a record; the second one stays empty.
uint32_t take_record(const Array& array) {
  RunRecord& run = *run_record;
  const uint32_t used = std::min(run.arrays_used.load(std::memory_order_relaxed), RunRecord::most_arrays);
  for (uint32_t i = 0; i < used; ++i)
    if (is_continued(run.arrays[i], array)) return run.arrays[i].freed = 0, i;
  if (used == RunRecord::most_arrays) return used;
  const uint32_t number = run.arrays_used.fetch_add(1, std::memory_order_relaxed);
  if (number >= RunRecord::most_arrays) return RunRecord::most_arrays;
  ArrayRecord& record = run.arrays[number];
  record.pages = array.end_page - array.first_page;
  std::memcpy(record.name, array.name, sizeof record.name);
  record.used.store(1, std::memory_order_relaxed);
  return number;
}

// In the order of ArrayCount.
void copy_counts(const Array& array, uint64_t (&to)[ArrayRecord::count_names]) {
  const Counters& c = array.counters;
  const uint64_t from[] = {c.faults,          c.fetched,
                           c.preloaded,       c.bytes_fetched,
                           c.diffed,          c.bytes_sent,
                           c.evicted,         c.invalidated,
                           c.refreshed,       c.notices,
                           c.cached,          c.home_faults,
                           array.homes_moved, array.homes_moved_again,
                           array.homes_kept};
  static_assert(std::size(from) == ArrayRecord::count_names);
  std::copy(std::begin(from), std::end(from), to);
}

}  // namespace

uint32_t record_number(Array& array) {
  const uint32_t known = array.record.load(std::memory_order_relaxed);
  if (known != 0) return known - 1;
  const uint32_t number = take_record(array);
  array.record.store(number + 1, std::memory_order_relaxed);
  return number;
}

void note_page(PageCounts counts, Array& array, uint64_t page, uint64_t pages) {
  const uint32_t number = record_number(array);
  if (number == RunRecord::most_arrays) return count(run_record->lost, pages);
  ArrayRecord& record = run_record->arrays[number];
  for (uint64_t at = page - array.first_page, end = at + pages; at < end;) {
    const uint64_t cell = at * ArrayRecord::cells / record.pages;
    const uint64_t next = ((cell + 1) * record.pages + ArrayRecord::cells - 1) / ArrayRecord::cells;
    count((record.*counts)[cell], std::min(end, next) - at);
    at = next;
  }
}

void note_fetched(Array& array, uint64_t page, uint64_t pages) {
  note_page(&ArrayRecord::faults, array, page, pages);
  note_moved(run_record->fetched_from, array.home(page).rank, pages << page_shift);
}

// Pages that this rank has never had cannot be of both.
void note_written_by_others(const ArrayTable& arrays, uint64_t page, uint64_t pages) {
  for (const uint64_t end = page + pages; page < end;) {
    Array* const array = arrays.live(page);
    if (array == nullptr) return;
    const uint64_t stop = std::min({end, array->end_page, array->cached_high.load(std::memory_order_relaxed)});
    page = std::max(page, array->cached_low.load(std::memory_order_relaxed));
    for (; page < stop; ++page)
      if (both_wrote(page)) note_page(&ArrayRecord::both, *array, page);
    page = std::max(page, array->end_page);
  }
}

void describe_array(Array& array, uint64_t alone) {
  const uint32_t number = record_number(array);
  if (number == RunRecord::most_arrays) return;
  ArrayRecord& record = run_record->arrays[number];
  std::memcpy(record.name, array.name, sizeof record.name);
  record.element_bytes = array.distribution.element_bytes(), record.bytes = array.distribution.bytes();
  record.ndims = array.distribution.dims(), record.policy = static_cast<int32_t>(array.home_policy);
  for (int d = 0; d < record.ndims; ++d) record.dims[d] = array.distribution.dim(d);
  for (uint64_t cell = 0; cell < ArrayRecord::cells; ++cell)
    record.home[cell] = array.home(array.first_page + cell * record.pages / ArrayRecord::cells).rank;
  record.alone = std::max(record.alone, alone);
  copy_counts(array, record.counts);
}

void end_array_record(Array& array, uint64_t alone) {
  describe_array(array, alone);
  const uint32_t number = record_number(array);
  if (number == RunRecord::most_arrays) return;
  ArrayRecord& record = run_record->arrays[number];
  for (size_t i = 0; i < std::size(record.counts); ++i) record.before[i] += std::exchange(record.counts[i], 0);
  record.freed = 1;
}

}  // namespace hiroba
