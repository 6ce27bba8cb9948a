#include "memory/numa/touches.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "base/addresses.hpp"
#include "base/wait.hpp"

namespace hiroba {

namespace {

// The state of a unit that the next touch moves. One rank changes `waits` to `moves` and moves the unit; other ranks
// that touch it then wait until it has been moved.
enum Claim : uint8_t { none, waits, moves };

constexpr uint64_t most_units = 8192;  // each may be a mapping of its own while some are closed
constexpr uint64_t sampled_at_once = 64;

}  // namespace

// Units are single pages, several pages if there would be too many units, and huge pages if memory is collapsed into
// these.
ArrayTouches& Touches::units_of(Array& array, bool huge, size_t domains) {
  if (array.touches != nullptr) return *array.touches;
  constexpr uint64_t huge_pages = huge_page_bytes / page_bytes;
  const uint64_t pages = array.end_page - array.first_page;
  auto touches = std::make_shared<ArrayTouches>();
  if (huge && pages >= huge_pages) touches->unit_pages = huge_pages;
  while (pages / touches->unit_pages >= most_units) touches->unit_pages *= 2;
  touches->first_unit = array.first_page / touches->unit_pages;
  touches->units = (array.end_page - 1) / touches->unit_pages - touches->first_unit + 1;
  touches->closed = std::make_unique<std::atomic<uint8_t>[]>(touches->units);
  touches->counts = std::vector<std::atomic<uint16_t>>(touches->units * domains);
  array.touches = std::move(touches);
  return *array.touches;
}

// Calls visit(first page, pages) for the pages of this node among these.
template <typename Visit>
void Touches::for_each_home_run(const Array& array, PageRun pages, const Visit& visit) const {
  const auto here = [this](int rank) { return rank >= config_.first_rank && rank < config_.end_rank; };
  array.for_each_run_of(here, [&](uint64_t first, uint64_t n) {
    const uint64_t begin = std::max(first, pages.first), end = std::min(first + n, pages.first + pages.pages);
    if (begin < end) visit(begin, end - begin);
  });
}

void Touches::protect(const Array& array, PageRun pages, int protection) const {
  for_each_home_run(array, pages, [&](uint64_t first, uint64_t n) {
    mprotect(config_.base + (first << page_shift), n << page_shift, protection);
  });
}

// Uses the byte of the array's first page in the unit: a large unit may begin in another array.
std::atomic<uint8_t>& Touches::claim_of(const Array& array, const PageRun& unit) const {
  return config_.claims[std::max(unit.first, array.first_page)];
}

void Touches::claim_all(Array& array) {
  const ArrayTouches& touches = units_of(array, config_.huge, config_.pages->domains().size());
  for (uint64_t u = 0; u < touches.units; ++u)
    claim_of(array, touches.run_of(u)).store(waits, std::memory_order_relaxed);
}

// Requires that no thread of this node touches the array: the first rank that maps an unmapped page can move it.
void Touches::close_for_next_touch(Array& array) {
  ArrayTouches& touches = units_of(array, config_.huge, config_.pages->domains().size());
  used_.store(true, std::memory_order_relaxed);
  for (uint64_t u = 0; u < touches.units; ++u) touches.closed[u].store(ArrayTouches::for_next_touch);
  const PageRun all = {array.first_page, array.end_page - array.first_page};
  protect(array, all, PROT_NONE);
  for_each_home_run(array, all, [this](uint64_t first, uint64_t n) { config_.pages->unmap(first, n); });
}

void Touches::sample(Array& array, bool on) {
  ArrayTouches& touches = units_of(array, config_.huge, config_.pages->domains().size());
  touches.sampled = on;
  used_.store(true, std::memory_order_relaxed);
  for (uint64_t u = 0; !on && u < touches.units; ++u) {
    if (touches.closed[u].load() != ArrayTouches::as_sample) continue;
    protect(array, touches.run_of(u), PROT_READ | PROT_WRITE);
    touches.closed[u].store(ArrayTouches::open);
  }
}

void Touches::forget(Array& array) {
  if (array.touches == nullptr) return;
  for (uint64_t u = 0; u < array.touches->units; ++u)
    claim_of(array, array.touches->run_of(u)).store(none, std::memory_order_relaxed);
  protect(array, {array.first_page, array.end_page - array.first_page}, PROT_READ | PROT_WRITE);
  array.touches = nullptr;
}

void Touches::at_barrier() {
  if (!used()) return;
  config_.arrays->for_each_live([this](Array& array) {
    ArrayTouches* const touches = array.touches.get();
    if (touches == nullptr || !touches->sampled) return;
    const uint64_t end = std::min(touches->units, touches->next_sample + sampled_at_once);
    for (uint64_t u = touches->next_sample; u < end; ++u) {
      uint8_t was = ArrayTouches::open;
      if (touches->closed[u].compare_exchange_strong(was, ArrayTouches::as_sample))
        protect(array, touches->run_of(u), PROT_NONE);
    }
    touches->next_sample = end == touches->units ? 0 : end;
  });
}

// Moves the unit to the domain of this thread, if no rank was faster.
void Touches::take_touched(const Array& array, const PageRun& unit) {
  std::atomic<uint8_t>& claim = claim_of(array, unit);
  uint8_t seen = waits;
  const bool mine = claim.compare_exchange_strong(seen, moves);
  while (!mine && claim.load(std::memory_order_acquire) == moves) Backoff::yield();
  if (!mine) return;
  const int here = config_.here();
  for_each_home_run(array, unit, [&](uint64_t first, uint64_t n) {
    mprotect(config_.base + (first << page_shift), n << page_shift, PROT_READ | PROT_WRITE);
    config_.pages->move_touched(first, n, here);
  });
  claim.store(none, std::memory_order_release);
}

bool Touches::open(Array& array, uint64_t page) {
  ArrayTouches* const touches = array.touches.get();
  if (touches == nullptr) return false;
  const uint64_t u = touches->unit_of(page);
  const uint8_t closed = touches->closed[u].load(std::memory_order_acquire);
  if (closed == ArrayTouches::open) return true;  // another thread has just opened it
  if (closed == ArrayTouches::for_next_touch) take_touched(array, touches->run_of(u));
  const std::vector<int>& domains = config_.pages->domains();
  const auto found = std::find(domains.begin(), domains.end(), config_.here());
  if (closed == ArrayTouches::as_sample && found != domains.end())
    touches->counts[u * domains.size() + static_cast<size_t>(found - domains.begin())].fetch_add(1);
  protect(array, touches->run_of(u), PROT_READ | PROT_WRITE);
  touches->closed[u].store(ArrayTouches::open, std::memory_order_release);
  return true;
}

std::vector<uint16_t> Touches::take_counts(Array& array) {
  ArrayTouches& touches = units_of(array, config_.huge, config_.pages->domains().size());
  std::vector<uint16_t> out;
  for (std::atomic<uint16_t>& count : touches.counts) out.push_back(count.exchange(0));
  return out;
}

}  // namespace hiroba
