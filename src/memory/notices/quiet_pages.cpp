#include "memory/notices/quiet_pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "base/log.hpp"

namespace hiroba {

Status QuietPages::start(char* base, uint64_t pages) {
  base_ = base;
  return states_.create("hiroba-quiet", pages);
}

void QuietPages::protect(uint64_t first, uint64_t end, int access) const {
  if (mprotect(base_ + (first << page_shift), (end - first) << page_shift, access) != 0)
    end_job(1, "cannot change the protection of %lu pages of shared memory (%s)", end - first,
            explain_error(errno).c_str());
}

void QuietPages::close(std::span<const PageRun> runs) {
  const std::lock_guard guard(lock_);
  for (const PageRun& run : runs) {
    if (closed_ >= most_closed) return;
    closed_ += 1 - neighbours(run.first, run.end());
    for (uint64_t page = run.first; page < run.end(); ++page) state(page).store(is_closed);
    low_ = std::min(low_, run.first), high_ = std::max(high_, run.end());
    protect(run.first, run.end(), PROT_READ);
  }
}

// The pages are open for others before they are for this thread, whose writes follow.
bool QuietPages::open(uint64_t page) {
  const std::lock_guard guard(lock_);
  if (!closed(page)) return state(page).load() == was_closed;  // another thread has just opened it
  uint64_t first = page, end = page + 1;
  while (page - first < opened_around && first > 0 && closed(first - 1)) --first;
  while (end - page < opened_around && closed(end)) ++end;
  closed_ += neighbours(first, end) - 1;
  for (uint64_t p = first; p < end; ++p) state(p).store(was_closed);
  opened_.store(true);
  protect(first, end, PROT_READ | PROT_WRITE);
  return true;
}

void QuietPages::open(uint64_t first, uint64_t end) {
  for (uint64_t page = first; page < end; ++page)
    if (closed(page)) (void)open(page);
}

void QuietPages::forget(std::span<const PageRun> runs) {
  for (const PageRun& run : runs) {
    const uint64_t first = std::max(run.first, low_), end = std::min(run.end(), high_);
    open(first, end);
    for (uint64_t page = first; page < end; ++page) state(page).store(never_closed);
  }
}

std::vector<PageRun> QuietPages::open_parts(std::span<const PageRun> runs) const {
  std::vector<PageRun> out;
  for (const PageRun& run : runs)
    for (uint64_t page = run.first, n = 0; page < run.end(); page += n + 1, n = 0) {
      while (page + n < run.end() && !closed(page + n)) ++n;
      if (n > 0) out.push_back({page, n});
    }
  return out;
}

}  // namespace hiroba
