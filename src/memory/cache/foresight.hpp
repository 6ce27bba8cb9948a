// Predicts the next preloads of a rank from its earlier ones: a program that iterates preloads the same pages in every
// span between two drops, or in every second one (two buffers that alternate).
//
// Owner: Cache. Threads: many may call note() at once; turn() requires that none does. Allocates nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

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

}  // namespace hiroba
