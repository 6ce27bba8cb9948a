#include "memory/cache/home_writes.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "base/log.hpp"
#include "base/wait.hpp"
#include "memory/cache/diff.hpp"
#include "memory/page_runs.hpp"

namespace hiroba {

namespace {
// Write-protected runs this close are scanned as one: the pages between cost a first-write fault each, and a scan costs
// a system call.
constexpr uint64_t merge_gap = 4;
}  // namespace

void HomeWrites::start(char* base, const Layout& layout, const Job& job, ArrayTable* arrays, Userfaultfd* uffd,
                       Pagemap* pagemap, PageStates* states) {
  base_ = base, layout_ = layout, job_ = job, arrays_ = arrays, pagemap_ = pagemap, states_ = states;
  uffd_ = uffd->tracks_writes() ? uffd : nullptr;
}

template <typename Visit>
void HomeWrites::for_each_home_run(const Array& array, const Visit& visit) const {
  array.for_each_run_of([this](int rank) { return job_.node_of(rank) == job_.node; }, visit);
}

// A chunk of which pages keep their home here is watched again.
void HomeWrites::remove(std::span<const PageRun> runs) {
  for (const PageRun& run : runs)
    watched_.erase(watched_.lower_bound(run.first / PageBits::pages),
                   watched_.upper_bound((run.first + run.pages - 1) / PageBits::pages));
  protected_ = without(protected_, runs);
}

// Unknown writes matter only if another node has copied pages.
bool HomeWrites::collect(NoticeLog& notices) {
  if (!exact()) return registrations() == 0;
  for (const PageRun& run : protected_)
    pagemap_->written_runs(base_ + (run.first << page_shift), run.pages, [&](uint64_t first, uint64_t pages) {
      notices.add(run.first + first, pages);
      if (Array* const array = arrays_->live(run.first + first); array != nullptr)
        count(array->counters.home_faults, pages);
    });
  protect_new(notices);
  return true;
}

// The fence orders this rank's writes before its read of the registrations.
uint64_t HomeWrites::registrations() const {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const uint64_t at = layout_.registrations(job_.first_rank_of(job_.node));
  return reinterpret_cast<std::atomic<uint64_t>*>(base_ + at)->load();
}

// Tracks pages that another node has copied for the first time. This rank's earlier writes to them were not tracked, so
// they go into the notices once.
void HomeWrites::protect_new(NoticeLog& notices) {
  const uint64_t count = registrations();
  if (count == registrations_seen_) return;
  if (count - registrations_seen_ > Layout::registration_slots / 2) read_directory(notices);
  else
    for (uint64_t index = registrations_seen_; index < count; ++index) read_registrations(index, notices);
  registrations_seen_ = count;
  merge_protected();
}

void HomeWrites::read_registrations(uint64_t index, NoticeLog& notices) {
  auto& slot = *reinterpret_cast<std::atomic<uint64_t>*>(
      base_ + layout_.registration_slot(job_.first_rank_of(job_.node), index));
  const uint64_t lap = registration_word(index, 0, 0);
  uint64_t word = slot.load(std::memory_order_acquire);
  for (Backoff backoff(1000); (word ^ lap) >> 56 != 0; word = slot.load(std::memory_order_acquire))
    if (!backoff.step()) usleep(20);  // its writer has counted it and is about to store it
  const Notice notice = {word};
  const uint64_t end = notice.page() + notice.pages();
  for (uint64_t p = notice.page(), n = 0; p < end; p += n + 1, n = 0) {
    while (p + n < end && home_here(p + n)) ++n;
    protect(p, n, notices);
  }
}

// Reads every byte of the directory that was ever written, because there are more registrations than the ring holds.
void HomeWrites::read_directory(NoticeLog& notices) {
  const int fd = job_.node_fds[static_cast<size_t>(job_.node)];
  const uint64_t directory = layout_.directory(job_.node);
  arrays_->for_each_live([&](const Array& array) {
    for_each_home_run(array, [&](uint64_t first, uint64_t pages) {
      const uint64_t end = first + pages;
      for (uint64_t p = first; p < end;) {
        const off_t data = lseek(fd, static_cast<off_t>(directory + p), SEEK_DATA);
        if (data < 0 || static_cast<uint64_t>(data) >= directory + end) return;
        p = static_cast<uint64_t>(data) - directory;
        const uint64_t stop = std::min(end, (p + page_bytes) / page_bytes * page_bytes);
        for (; p < stop; ++p)
          if (base_[directory + p] != 0) protect(p, 1, notices);
      }
    });
  });
}

bool HomeWrites::home_here(uint64_t page) const {
  const Array* const array = arrays_->live(page);
  return array != nullptr && job_.node_of(array->home(page).rank) == job_.node;
}

// Only chunks with write-protected pages are given to userfaultfd: the rest may use huge pages.
void HomeWrites::protect(uint64_t first, uint64_t pages, NoticeLog& notices) {
  const uint64_t end = first + pages;
  for (uint64_t p = first, n = 0; p < end; p += n + 1, n = 0) {
    for (; p + n < end && !states_->flag(p + n, PageStates::write_protected); ++n) {
      if (watched_.insert((p + n) / PageBits::pages).second) watch_chunk(p + n);
      states_->set_flag(p + n, PageStates::write_protected);
    }
    if (n == 0) continue;
    uffd_->protect(base_ + (p << page_shift), n << page_shift);
    protected_.push_back({p, n});
    notices.add(p, n);
  }
}

void HomeWrites::watch_chunk(uint64_t page) {
  const Array& array = *arrays_->live(page);
  const uint64_t chunk = page / PageBits::pages * PageBits::pages;
  for_each_home_run(array, [&](uint64_t first, uint64_t pages) {
    const uint64_t begin = std::max(first, chunk), end = std::min(first + pages, chunk + PageBits::pages);
    if (begin >= end) return;
    const Status status =
        uffd_->watch(base_ + (begin << page_shift), (end - begin) << page_shift, Userfaultfd::write_protect);
    if (!status.ok()) end_job(1, "array %s: %s; use --tracking mprotect", array.name, status.message().c_str());
  });
}

void HomeWrites::merge_protected() {
  std::sort(protected_.begin(), protected_.end(), [](const PageRun& a, const PageRun& b) { return a.first < b.first; });
  std::vector<PageRun> merged;
  for (const PageRun& run : protected_) {
    bool near = !merged.empty() && run.first <= merged.back().first + merged.back().pages + merge_gap;
    for (uint64_t p = near ? merged.back().first + merged.back().pages : run.first; p < run.first; ++p)
      near = near && home_here(p);
    if (near) merged.back().pages = std::max(merged.back().pages, run.first + run.pages - merged.back().first);
    else merged.push_back(run);
  }
  protected_ = std::move(merged);
}

}  // namespace hiroba
