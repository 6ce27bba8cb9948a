#include "memory/numa/huge_pages.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "base/addresses.hpp"
#include "base/record/record.hpp"
#include "base/wait.hpp"
#include "memory/sparse.hpp"

namespace hiroba {

namespace {
constexpr uint64_t least_between_nodes = uint64_t{24} << 20;

// Calls visit(first byte, end) for the parts of a rank that have room for a huge page.
template <typename Visit>
void for_each_part(const Array& array, int rank, const Visit& visit) {
  for (const HomeRun& run : array.homes)
    if (run.rank == rank && run.pages << page_shift >= huge_page_bytes)
      visit(run.first << page_shift, (run.first + run.pages) << page_shift);
}
}  // namespace

// Memory that is used once or twice is not worth a copy, and nothing says how often it will be used. So it is collapsed
// when it has been in use for four times as long as that takes: a program that ends then has lost a quarter, one that
// goes on loses little. The kernel copies about a byte in a nanosecond. Looks at memory come after twice the time each.
void HugePages::at_barrier() {
  if (!on_) return;
  constexpr double seconds_of_use_per_byte = 4e-9;
  static constexpr double first_look = 0.01;
  const double now = seconds_now();
  config_.arrays->for_each_live([this, now](Array& array) {
    HugeState& huge = array.huge;
    if (array.is_heap || now < huge.look_at) return;
    if (huge.used_since == 0) huge.used_since = now;
    const double used = now - huge.used_since;
    huge.look_at = now + std::max(first_look, used);
    if (used == 0) return;
    const uint64_t bytes = in_use(array), small = bytes - std::min(bytes, huge.gathered);
    if (used >= seconds_of_use_per_byte * static_cast<double>(small)) gather(array, bytes);
  });
}

uint64_t HugePages::in_use(const Array& array) const {
  uint64_t bytes = 0;
  for_each_in_use(array, [&](const Bytes& huge, const Bytes&) { bytes += huge.end - huge.begin; });
  return bytes;
}

void HugePages::advise(Array& array) const {
  if (!on_ || config_.sparse || array.sparse || array.is_heap || !pays(array)) return;
  for_each_part(array, config_.rank, [&](uint64_t first, uint64_t last) {
    const Bytes part = {first, last}, huge = whole(part, part);
    if (huge.begin >= huge.end) return;
    madvise(config_.base + huge.begin, huge.end - huge.begin, MADV_HUGEPAGE);
    array.huge.advised = true;
  });
}

// Memory that has been used is collapsed at once, so that the program's loop does not begin with it.
void HugePages::parts_changed(Array& array) {
  advise(array);
  if (on_ && !array.is_heap && array.huge.used_since > 0) gather(array, in_use(array));
}

// Between nodes it pays only for ranks with much of the array, unless copies stay: each time cached pages are dropped,
// a machine may flush every translation if any huge page is in use. All parts of the rank count together: migrated
// pages may lie in several parts, and a part may lack some pages that no rank writes.
bool HugePages::pays(const Array& array) const {
  if (!config_.several_nodes || array.preloaded.load(std::memory_order_relaxed)) return true;
  uint64_t pages = 0;
  for (const HomeRun& run : array.homes) pages += run.rank == config_.rank ? run.pages : 0;
  return pages << page_shift >= least_between_nodes;
}

void HugePages::advise(uint64_t begin, uint64_t bytes) const {
  if (!on_ || config_.sparse || bytes < (config_.several_nodes ? least_between_nodes : 2 * huge_page_bytes)) return;
  const uint64_t first = (begin + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
  const uint64_t end = (begin + bytes) / huge_page_bytes * huge_page_bytes;
  madvise(config_.base + first, end - first, MADV_HUGEPAGE);
}

// Returns the whole huge pages in use of a part. A huge page at the beginning or the end of a part counts if at least
// half of it belongs to the part, and the part is so long that the other half, which is wasted memory, is at most a
// quarter of it.
HugePages::Bytes HugePages::whole(const Bytes& in_use, const Bytes& part) {
  const auto round_down = [](uint64_t bytes) { return bytes / huge_page_bytes * huge_page_bytes; };
  const uint64_t lacking =
      part.end - part.begin >= 4 * huge_page_bytes ? huge_page_bytes / 2 : 0;  // at most, at an end
  return {round_down(in_use.begin + huge_page_bytes - 1 - (in_use.begin == part.begin ? lacking : 0)),
          round_down(in_use.end + (in_use.end == part.end ? lacking : 0))};
}

// Calls visit(whole huge pages, part) for the memory in use of this rank's parts.
template <typename Visit>
void HugePages::for_each_in_use(const Array& array, const Visit& visit) const {
  if (!pays(array)) return;
  for_each_part(array, config_.rank, [&](uint64_t first, uint64_t last) {
    const Bytes part = {first, last};
    for_each_data(config_.fd, first, last, [&](uint64_t begin, uint64_t end) {
      const Bytes huge = whole({begin, end}, part);
      if (huge.begin < huge.end) visit(huge, part);
    });
  });
}

// The kernel makes no huge page of an empty range, so one small page must exist.
void HugePages::make_whole(uint64_t begin, uint64_t end, uint64_t used) const {
  if (!on_) return;
  for (uint64_t at = begin; at < end; at += huge_page_bytes)
    madvise(config_.base + std::max(at, used), page_bytes, MADV_POPULATE_WRITE);
  collapse_file(config_.fd, begin, end - begin);
}

void HugePages::make(const Array& array, const HomeRun& part, const Bytes& come) const {
  const Bytes huge = whole(come, {part.first << page_shift, (part.first + part.pages) << page_shift});
  if (huge.begin < huge.end && pays(array)) make_whole(huge.begin, huge.end, come.begin);
}

void HugePages::prepare(const Array& array, uint64_t page, uint64_t pages) const {
  const HomeRun& run = array.home(page);
  if (on_ && run.rank == config_.rank) make(array, run, {page << page_shift, (page + pages) << page_shift});
}

// The kernel makes pages together in a fraction of the time of as many faults, and huge pages that are empty need not
// be copied into at the next barrier.
void HugePages::fill(Array& array, const HomeRun& part, uint64_t page, uint64_t pages) const {
  const uint64_t first = std::max(part.first, page), end = std::min(part.first + part.pages, page + pages);
  if (!on_ || array.is_heap || first >= end || 2 * (end - first) < part.pages) return;
  array.filled = true;
  const Bytes come = {first << page_shift, end << page_shift};
  make(array, part, come);
  madvise(config_.base + come.begin, come.end - come.begin, MADV_POPULATE_WRITE);
}

// Collapsed memory is not collapsed again: that takes milliseconds of a program's loop.
void HugePages::gather(Array& array, uint64_t used) {
  if (used == array.huge.gathered) return;
  array.huge.gathered = used;
  const double begin = recording() ? seconds_now() : 0;
  for_each_in_use(array, [&](const Bytes& huge, const Bytes& part) {
    collapse_file(config_.fd, huge.begin, huge.end - huge.begin);
    const uint64_t first = std::max(part.begin, huge.begin), end = std::min(part.end, huge.end);
    madvise(config_.base + first, end - first, MADV_POPULATE_READ);
  });
  if (begin > 0) note_coherence("huge pages", begin, seconds_now());
}

}  // namespace hiroba
