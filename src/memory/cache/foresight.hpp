// Remembers fetches, because programs repeat them. Foresight predicts the preloads of a rank: a program that iterates
// preloads the same pages in every span between two drops, or in every second one (two buffers that alternate).
// FaultNotes are of the pages that accesses bring, for floors above that fetch them together when the program comes to
// a place again.
//
// Owner: Fetches. Threads: many may call note() at once, also in the fault handler; turn() requires that none does, and
// end() that begin() is not called before it returns. note() and turn() allocate nothing.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "base/wait.hpp"
#include "memory/array.hpp"

namespace hiroba {

class Foresight {
 public:
  void note(uint64_t first, uint64_t end) {
    lock_.lock();
    Span& now = spans_[0];
    if (now.count < most) now.runs[now.count] = {first, end - first};
    now.count = std::min(now.count + 1, most + 1);
    lock_.unlock();
  }

  // Ends a span. Returns the runs that the next span is expected to preload; none unless a pattern has been seen.
  std::span<const PageRun> turn() {
    const size_t like = same(spans_[0], spans_[1]) ? 0 : same(spans_[0], spans_[2]) ? 1 : spans_.size();
    std::rotate(spans_.begin(), spans_.end() - 1, spans_.end());
    spans_[0].count = 0;
    if (like == spans_.size()) return {};
    const Span& expected = spans_[like + 1];
    return {expected.runs.data(), expected.count <= most ? expected.count : 0};
  }

 private:
  static constexpr size_t most = 32;  // runs; a program with more runs is not predicted
  struct Span {
    std::array<PageRun, most> runs;
    size_t count = 0;
  };
  static bool same(const Span& a, const Span& b) {
    return a.count > 0 && a.count <= most && a.count == b.count &&
           std::equal(a.runs.begin(), a.runs.begin() + static_cast<ptrdiff_t>(a.count), b.runs.begin());
  }

  std::array<Span, 3> spans_;  // the present one and the two before it
  SignalSafeLock lock_;        // guards spans_[0]
};

class FaultNotes {
 public:
  void begin() {
    lock_.lock();
    count_ = 0, on_.store(true, std::memory_order_relaxed);
    lock_.unlock();
  }
  // Returns the runs since begin(), in no order; those after the first `most` are not known.
  std::vector<PageRun> end() {
    lock_.lock();
    on_.store(false, std::memory_order_relaxed);
    lock_.unlock();
    return {runs_.begin(), runs_.begin() + static_cast<ptrdiff_t>(count_)};
  }
  void note(uint64_t page, uint64_t pages) {
    if (!on_.load(std::memory_order_relaxed)) return;
    lock_.lock();
    if (on_.load(std::memory_order_relaxed)) add(page, pages);
    lock_.unlock();
  }

 private:
  void add(uint64_t page, uint64_t pages) {
    if (count_ > 0 && runs_[count_ - 1].first + runs_[count_ - 1].pages == page) runs_[count_ - 1].pages += pages;
    else if (count_ < most) runs_[count_++] = {page, pages};
  }

  static constexpr size_t most = 4096;
  std::array<PageRun, most> runs_;
  size_t count_ = 0;
  std::atomic<bool> on_{false};
  SignalSafeLock lock_;  // guards count_ and runs_ while on_
};

}  // namespace hiroba
