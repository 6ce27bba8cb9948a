#include "memory/huge_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/addresses.hpp"

namespace hiroba {

// New arrays: before the first barrier nothing is known to be in use, and by the second a program has filled its
// arrays.
void HugePages::at_barrier() {
  if (!on_) return;
  constexpr int last_barrier = 2;
  config_.arrays->for_each_live([this](Array& array) {
    if (array.barriers == last_barrier || array.is_heap) return;
    ++array.barriers;
    gather(array);
  });
}

// visit(first, bytes, begin, end) for what is in use of this rank's parts, in whole huge pages; begin and end are those
// of the part. Between nodes only large parts, unless their copies stay: each time cached pages are dropped, a machine
// may forget every translation if any huge page is in use. A huge page at the beginning or the end of a part counts if
// at least half of it is the part's, and the part is not so short that the rest, which is memory for nothing, would be
// more than a quarter of it.
template <typename Visit>
void HugePages::for_each_in_use(const Array& array, const Visit& visit) const {
  const bool pages_go = config_.several_nodes && !array.preloaded.load(std::memory_order_relaxed);
  const uint64_t least = pages_go ? uint64_t{32} << 20 : huge_page_bytes;
  const auto round_down = [](uint64_t bytes) { return bytes / huge_page_bytes * huge_page_bytes; };
  for (const HomeRun& run : array.homes) {
    if (run.rank != config_.rank || run.pages << page_shift < least) continue;
    const uint64_t first = run.first << page_shift, end = (run.first + run.pages) << page_shift;
    const uint64_t lacking = end - first >= 4 * huge_page_bytes ? huge_page_bytes / 2 : 0;  // at most, at an end
    for (uint64_t hole = first; hole < end;) {
      const off_t data = lseek(config_.fd, static_cast<off_t>(hole), SEEK_DATA);
      if (data < 0 || static_cast<uint64_t>(data) >= end) break;
      const auto begin = static_cast<uint64_t>(data);
      hole = std::min(end, static_cast<uint64_t>(lseek(config_.fd, data, SEEK_HOLE)));
      const uint64_t from = round_down(begin + huge_page_bytes - 1 - (begin == first ? lacking : 0));
      const uint64_t to = round_down(hole + (hole == end ? lacking : 0));
      if (from < to) visit(from, to - from, first, end);
    }
  }
}

// What is gathered already is not gathered again: that takes milliseconds of a program's loop.
void HugePages::gather(Array& array) {
  if (!on_ || array.is_heap) return;
  uint64_t in_use = 0;
  for_each_in_use(array, [&](uint64_t, uint64_t bytes, uint64_t, uint64_t) { in_use += bytes; });
  if (in_use == array.gathered) return;
  array.gathered = in_use;
  for_each_in_use(array, [&](uint64_t from, uint64_t bytes, uint64_t first, uint64_t end) {
    collapse_file(config_.fd, from, bytes);
    first = std::max(first, from), end = std::min(end, from + bytes);
    madvise(config_.base + first, end - first, MADV_POPULATE_READ);
  });
}

}  // namespace hiroba
