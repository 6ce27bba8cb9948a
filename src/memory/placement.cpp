#include "memory/placement.hpp"

#include <algorithm>

#include "base/addresses.hpp"

namespace hiroba {

std::vector<HomeRun> home_runs(const Distribution& d, uint64_t pages, uint64_t gap) {
  std::vector<HomeRun> runs;
  for (uint64_t page = 0; page < pages;) {
    // The owner of its first byte is the home of a page; the owner of the first element is the home of the space before
    // an array that does not begin on a page.
    const uint64_t at = std::max(page << page_shift, gap) - gap;
    const uint64_t element = std::min(at / d.element_bytes(), d.elements() - 1);
    const uint64_t end_byte = gap + d.owner_run_end(element) * d.element_bytes();
    const uint64_t end = std::min(pages, std::max(page + 1, (end_byte + page_bytes - 1) >> page_shift));
    const int rank = d.owner(element);
    if (!runs.empty() && runs.back().rank == rank) runs.back().pages += end - page;
    else runs.push_back({page, end - page, rank});
    page = end;
  }
  return runs;
}

namespace {

// Returns the number of whole huge pages of the parts if the array begins `start` pages into one.
uint64_t whole_huge_pages(const std::vector<HomeRun>& parts, uint64_t start) {
  constexpr uint64_t pages = huge_page_bytes / page_bytes;
  uint64_t whole = 0;
  for (const HomeRun& part : parts) {
    const uint64_t first = (start + part.first + pages - 1) / pages, end = (start + part.first + part.pages) / pages;
    whole += std::max(first, end) - first;
  }
  return whole;
}

}  // namespace

uint64_t choose_start(const std::vector<HomeRun>& parts, uint64_t by_turn) {
  constexpr uint64_t pages = huge_page_bytes / page_bytes, worth = 10;
  constexpr size_t most_parts = 64;  // the cost grows with their square
  if (parts.size() > most_parts) return by_turn;
  const uint64_t whole_by_turn = whole_huge_pages(parts, by_turn);
  uint64_t best = by_turn, most = whole_by_turn;
  for (const HomeRun& part : parts) {
    const uint64_t start = (pages - part.first % pages) % pages, whole = whole_huge_pages(parts, start);
    if (whole > most) best = start, most = whole;
  }
  return (most - whole_by_turn) * worth >= most ? best : by_turn;
}

}  // namespace hiroba
