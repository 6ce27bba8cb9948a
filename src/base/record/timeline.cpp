#include "base/record/timeline.hpp"

#include <algorithm>
#include <bit>

namespace hiroba {

namespace {

constexpr uint64_t millisecond = 1'000'000;
thread_local uint32_t thread_number __attribute__((tls_model("initial-exec"))) = 0;

uint64_t nanoseconds(double seconds) { return static_cast<uint64_t>(std::max(0.0, seconds) * 1e9); }

}  // namespace

int Timeline::level_at(uint64_t milliseconds) {
  return std::min(levels - 1, std::max(0, static_cast<int>(std::bit_width(milliseconds)) - 8));
}

void Timeline::note(TimeKind kind, uint32_t site, double began, double begin, double end, int other) {
  uint64_t at = nanoseconds(begin - began);
  const uint64_t stop = nanoseconds(end - began);
  while (at < stop) {
    const int level = level_at(at / millisecond);
    const uint64_t width = millisecond << level, bin = std::min(at / width, 2 * half - 1);
    const uint64_t next = std::min(stop, (at / width + 1) * width);
    bins[half * static_cast<uint64_t>(level) + bin][static_cast<size_t>(kind)].fetch_add(next - at,
                                                                                         std::memory_order_relaxed);
    at = next;
  }
  if (thread_number == 0) thread_number = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  const int of = std::min(classes - 1, static_cast<int>(std::bit_width(nanoseconds(end - begin) >> 10)));
  const uint64_t number = used[of].fetch_add(1, std::memory_order_relaxed);
  events[of][number % class_events] = {begin, static_cast<float>(end - begin), site, other, thread_number};
}

void Timeline::sum(TimeKind kind, int level, uint64_t (&out)[2 * half]) const {
  std::fill(std::begin(out), std::end(out), 0);
  for (int k = 0; k <= level; ++k)
    for (uint64_t bin = k == 0 ? 0 : half; bin < 2 * half; ++bin)
      out[bin >> (level - k)] +=
          bins[half * static_cast<uint64_t>(k) + bin][static_cast<size_t>(kind)].load(std::memory_order_relaxed);
}

}  // namespace hiroba
