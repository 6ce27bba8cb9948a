#include "memory/notices/home_writes.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "base/log.hpp"
#include "memory/page_runs.hpp"
#include "memory/sparse.hpp"

namespace hiroba {

namespace {

// Tracked runs with at most this gap are scanned as one: a page of the gap costs a first-write fault, a scan costs a
// system call.
constexpr uint64_t merge_gap = 4;
// A look at many pages that protects none costs less than a system call for each run, if gaps are at most so long.
constexpr uint64_t look_gap = 64;
constexpr std::ptrdiff_t least_looked_at = 3;  // runs
// A look at a page costs some 0.03 us at each barrier, to close it and to open it again with its neighbours 0.16.
constexpr uint32_t quiet_barriers = 16;

void append(std::vector<PageRun>& runs, uint64_t page) {
  if (!runs.empty() && page == runs.back().end()) ++runs.back().pages;
  else runs.push_back({page, 1});
}

// Merges runs that have become twice as many since they were last merged: releases may add the same ones for ever.
void merge_doubled(std::vector<PageRun>& runs, size_t& merged) {
  constexpr size_t many = 1024;
  if (runs.size() >= std::max(many, 2 * merged)) merge_runs(runs), merged = runs.size();
}

}  // namespace

Status HomeWrites::start(const Config& config) {
  config_ = config;
  barriers_to_close_ = quiet_barriers;
  return quiet_.start(config.base, config.layout.pages());
}

void HomeWrites::remove(std::span<const PageRun> runs) {
  quiet_.forget(runs);
  for (Pages* const pages : {&once_, &again_}) pages->looked_at = without(pages->looked_at, runs);
  once_.runs = without(once_.runs, runs);
  again_.runs = without(again_.runs, runs);
  merge_runs(noted_);
  noted_ = without(noted_, runs);
}

// Pages that are not known can matter only if another node has copied them.
bool HomeWrites::collect(NoticeLog& notices, bool for_all) {
  if (!exact()) return !any_copied();
  if (config_.sharers->count() != registrations_seen_) read_registrations(notices);
  if (notices.clears() != noted_in_) noted_.clear(), noted_in_ = notices.clears();
  if (quiet_.take_opened())
    for (Pages* const pages : {&once_, &again_}) pages->looked_at = quiet_.open_parts(pages->runs);
  look(once_, for_all, notices);
  look(again_, for_all, notices);
  if (!for_all) return true;
  close_quiet(notices);
  if (!noted_.empty()) end_noted();
  return true;
}

void HomeWrites::look(Pages& pages, bool for_all, NoticeLog& notices) {
  if (pages.changed) tidy(pages), pages.looked_at = quiet_.open_parts(pages.runs);
  look(pages, pages.looked_at, for_all, notices);
}

void HomeWrites::look(Pages& pages, std::span<const PageRun> runs, bool for_all, NoticeLog& notices) {
  found_.clear();
  find(runs, !for_all || &pages == &again_);
  if (found_.empty()) return;
  recent_.insert(recent_.end(), found_.begin(), found_.end());
  merge_doubled(recent_, recent_merged_);
  const std::lock_guard guard(config_.sharers->lock(config_.job.node));
  for (const PageRun& run : found_) note(pages, run, for_all, notices);
  end_protection();
}

// At a barrier. What is written while pages are being closed is found by another look.
void HomeWrites::close_quiet(NoticeLog& notices) {
  if (barriers_to_close_-- > 0) return;
  barriers_to_close_ = quiet_barriers;
  merge_runs(recent_);
  for (Pages* const pages : {&once_, &again_}) {
    std::vector<PageRun> quiet = without(pages->looked_at, recent_);
    std::erase_if(quiet, [this](const PageRun& run) {
      const Array* const array = config_.arrays->live(run.first);
      return array == nullptr || !array->closable;
    });
    if (quiet.empty()) continue;
    quiet_.close(quiet);
    look(*pages, quiet, true, notices);
    pages->looked_at = quiet_.open_parts(pages->runs);
  }
  recent_.clear(), recent_merged_ = 0;
}

// Runs with short gaps are looked at together first.
void HomeWrites::find(std::span<const PageRun> runs, bool protect) {
  for (auto begin = runs.begin(); begin != runs.end();) {
    auto end = begin + 1;
    while (end != runs.end() && end->first - (end - 1)->end() <= look_gap) ++end;
    if (end - begin >= least_looked_at) find_by_look({begin, end}, protect);
    else
      for (; begin != end; ++begin) find_in(*begin, protect);
    begin = end;
  }
}

void HomeWrites::find_in(const PageRun& run, bool protect) {
  config_.pagemap->written_runs(config_.base + (run.first << page_shift), run.pages, protect,
                                [&](uint64_t first, uint64_t pages) { found_.push_back({run.first + first, pages}); });
}

// A page that is found must be protected by the scan that finds it: a write of another thread between the two would be
// lost. So a run with written pages is scanned again.
void HomeWrites::find_by_look(std::span<const PageRun> runs, bool protect) {
  const uint64_t first = runs.front().first;
  auto run = runs.begin();
  const auto visit = [&](uint64_t at, uint64_t pages) {
    const PageRun written = {first + at, pages};
    while (run != runs.end() && run->end() <= written.first) ++run;
    for (; run != runs.end() && run->first < written.end(); ++run) {
      if (protect) {
        find_in(*run, true);
        continue;
      }
      const uint64_t begin = std::max(run->first, written.first), end = std::min(run->end(), written.end());
      found_.push_back({begin, end - begin});
      if (run->end() > written.end()) break;
    }
  };
  config_.pagemap->written_runs(config_.base + (first << page_shift), runs.back().end() - first, false, visit);
}

// Written pages. Nobody has a copy of an idle one. A scan that protects nothing leaves them unprotected.
void HomeWrites::note(Pages& pages, const PageRun& found, bool for_all, NoticeLog& notices) {
  const bool is_protected = !for_all || &pages == &again_;
  uint64_t faults = 0;
  for (uint64_t page = found.first; page < found.end(); ++page) {
    const uint8_t flags = config_.sharers->flags(page);
    if ((flags & Sharers::tracked) == 0) continue;
    ++faults;
    const bool idle = (flags & Sharers::idle) != 0;
    if (!idle) notices.add(page, 1, config_.job.node);
    if (for_all && &pages == &again_) note_again(page, flags);
    else if (idle || for_all) end_copies(page, is_protected);
    else append(noted_, page);
  }
  merge_doubled(noted_, noted_merged_);
  Array* const array = config_.arrays->live(found.first);
  if (array != nullptr) count(array->counters.home_faults, faults);
}

// Tracking ends at the second barrier in a row at which the page was written and nobody has copied it: a page that is
// written before each of two barriers is often copied after one of them only.
void HomeWrites::note_again(uint64_t page, unsigned flags) {
  const bool idle = (flags & Sharers::idle) != 0;
  if (idle && (flags & Sharers::unread) != 0) return end_copies(page, true);
  constexpr unsigned noted = Sharers::tracked | Sharers::again | Sharers::idle;
  config_.sharers->set_flags(page, noted | (idle ? unsigned{Sharers::unread} : 0));
}

// Pages that releases have found, and that all ranks drop by the notices of this barrier.
void HomeWrites::end_noted() {
  const std::lock_guard guard(config_.sharers->lock(config_.job.node));
  for (const PageRun& run : noted_)
    for (uint64_t page = run.first; page < run.end(); ++page)
      if ((config_.sharers->flags(page) & (Sharers::tracked | Sharers::idle)) == Sharers::tracked)
        end_copies(page, true);
  end_protection();
  noted_.clear(), noted_merged_ = 0;
}

// No rank has a copy of a written page any more. It stays tracked if ranks copy it again and again, until it is written
// when nobody has.
void HomeWrites::end_copies(uint64_t page, bool is_protected) {
  const uint8_t flags = config_.sharers->flags(page);
  if ((flags & (Sharers::again | Sharers::idle)) == Sharers::again)
    return config_.sharers->set_flags(page, flags | Sharers::idle);
  const bool was_again = (flags & Sharers::again) != 0;
  config_.sharers->set_flags(page, was_again ? 0U : unsigned{Sharers::again});
  (was_again ? again_ : once_).changed = true;
  if (is_protected) append(ended_, page);
}

void HomeWrites::end_protection() {
  for (const PageRun& run : ended_)
    config_.uffd->unprotect(config_.base + (run.first << page_shift), run.pages << page_shift);
  ended_.clear();
}

// Pages that other nodes have begun to copy.
void HomeWrites::read_registrations(NoticeLog& notices) {
  const std::lock_guard guard(config_.sharers->lock(config_.job.node));
  const uint64_t count = config_.sharers->count();
  if (count - registrations_seen_ > Layout::registration_slots) read_directory(notices);
  else
    for (uint64_t number = registrations_seen_; number < count; ++number) {
      const PageRun run = config_.sharers->registration(number);
      for (uint64_t page = run.first; page < run.end(); ++page)
        if (home_here(page)) track(page, notices);
    }
  registrations_seen_ = count;
}

// Looks at every byte of the directory that was ever written.
void HomeWrites::read_directory(NoticeLog& notices) {
  const Job& job = config_.job;
  const int fd = job.node_fds[static_cast<size_t>(job.node)];
  const uint64_t directory = config_.layout.directory(job.rank);
  config_.arrays->for_each_live([&](const Array& array) {
    array.for_each_run_of([&job](int rank) { return job.node_of(rank) == job.node; },
                          [&](uint64_t first, uint64_t pages) {
                            for_each_data(fd, directory + first, directory + first + pages,
                                          [&](uint64_t begin, uint64_t end) {
                                            for (uint64_t at = begin; at < end; ++at) track(at - directory, notices);
                                          });
                          });
  });
}

// A page whose writes nobody else could begin to track is put into the notices once, and tracked from now on.
void HomeWrites::track(uint64_t page, NoticeLog& notices) {
  const uint8_t flags = config_.sharers->flags(page);
  if ((flags & Sharers::unarmed) != 0) {
    if (!config_.sharers->arm_here(page, 1))
      end_job(1, "array %s: userfaultfd cannot watch it; use --tracking mprotect", config_.arrays->live(page)->name);
    config_.sharers->set_flags(page, Sharers::tracked | Sharers::again);
    notices.add(page, 1, config_.job.node);
  } else if ((flags & Sharers::tracked) == 0) {
    return;
  }
  Pages& pages = (config_.sharers->flags(page) & Sharers::again) != 0 ? again_ : once_;
  append(recent_, page);
  merge_doubled(recent_, recent_merged_);
  append(pages.runs, page);
  pages.changed = true;
}

bool HomeWrites::home_here(uint64_t page) const {
  const Array* const array = config_.arrays->live(page);
  return array != nullptr && config_.job.node_of(array->home(page).rank) == config_.job.node;
}

// Sorts and merges runs, and leaves out pages that do not belong to them, but for small gaps of untracked ones.
void HomeWrites::tidy(Pages& pages) const {
  merge_runs(pages.runs);
  std::vector<PageRun> kept;
  for (const PageRun& run : pages.runs)
    for (uint64_t page = run.first; page < run.end(); ++page) {
      if (!belongs(page, pages)) continue;
      bool near = !kept.empty() && page <= kept.back().end() + merge_gap;
      for (uint64_t gap = near ? kept.back().end() : page; gap < page; ++gap)
        near = near && home_here(gap) && !is_tracked(gap);
      if (near) kept.back().pages = page + 1 - kept.back().first;
      else kept.push_back({page, 1});
    }
  pages.runs = std::move(kept);
  pages.changed = false;
}

}  // namespace hiroba
