#include "base/record/timeline.hpp"

#include <algorithm>
#include <bit>

namespace hiroba {

namespace {

constexpr uint64_t millisecond = 1'000'000;
thread_local uint32_t thread_number __attribute__((tls_model("initial-exec"))) = 0;

}  // namespace

int Timeline::level_at(uint64_t milliseconds) {
  return std::min(levels - 1, std::max(0, static_cast<int>(std::bit_width(milliseconds)) - 8));
}

namespace {

// Calls the function with each bin between two times, in nanoseconds, and the part of the time in it.
template <typename Function>
void for_each_bin(uint64_t at, uint64_t stop, const Function& function) {
  while (at < stop) {
    const int level = Timeline::level_at(at / millisecond);
    const uint64_t width = millisecond << level, bin = std::min(at / width, 2 * Timeline::half - 1);
    const uint64_t next = std::min(stop, (at / width + 1) * width);
    function(Timeline::half * static_cast<uint64_t>(level) + bin, next - at);
    at = next;
  }
}

// Calls the function with each bin of a level, and with those of narrower ones that are in it.
template <typename Function>
void for_each_part(int level, const Function& function) {
  for (int k = 0; k <= level; ++k)
    for (uint64_t bin = k == 0 ? 0 : Timeline::half; bin < 2 * Timeline::half; ++bin)
      function(bin >> (level - k), Timeline::half * static_cast<uint64_t>(k) + bin);
}

}  // namespace

void Timeline::note_energy(double began, double begin, double end, double joules) {
  const double each = 1e6 * joules / std::max(1e9 * (end - begin), 1.0);
  for_each_bin(nanoseconds(begin - began), nanoseconds(end - began), [&](uint64_t bin, uint64_t time) {
    microjoules[bin].fetch_add(static_cast<uint64_t>(each * static_cast<double>(time)), std::memory_order_relaxed);
  });
}

void Timeline::note(TimeKind kind, uint32_t site, double began, double begin, double end, int other) {
  for_each_bin(nanoseconds(begin - began), nanoseconds(end - began), [&](uint64_t bin, uint64_t time) {
    bins[bin][static_cast<size_t>(kind)].fetch_add(time, std::memory_order_relaxed);
  });
  if (thread_number == 0) thread_number = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  const int of = std::min(classes - 1, static_cast<int>(std::bit_width(nanoseconds(end - begin) >> 10)));
  const uint64_t number = used[of].fetch_add(1, std::memory_order_relaxed);
  events[of][number % class_events] = {begin, static_cast<float>(end - begin), site, other, thread_number};
}

void Timeline::sum(TimeKind kind, int level, uint64_t (&out)[2 * half]) const {
  std::fill(std::begin(out), std::end(out), 0);
  for_each_part(level, [&](uint64_t to, uint64_t from) {
    out[to] += bins[from][static_cast<size_t>(kind)].load(std::memory_order_relaxed);
  });
}

void Timeline::sum_energy(int level, uint64_t (&out)[2 * half]) const {
  std::fill(std::begin(out), std::end(out), 0);
  for_each_part(level,
                [&](uint64_t to, uint64_t from) { out[to] += microjoules[from].load(std::memory_order_relaxed); });
}

}  // namespace hiroba
