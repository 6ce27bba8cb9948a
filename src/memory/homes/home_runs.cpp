#include "memory/homes/home_runs.hpp"

#include <algorithm>

namespace hiroba {

std::vector<HomeChange> home_changes(std::span<const HomeRun> before, std::span<const HomeRun> after) {
  std::vector<HomeChange> changes;
  for (size_t b = 0, a = 0; b < before.size() && a < after.size();) {
    const HomeRun &old = before[b], &fresh = after[a];
    const uint64_t old_end = old.first + old.pages, fresh_end = fresh.first + fresh.pages;
    const uint64_t first = std::max(old.first, fresh.first), end = std::min(old_end, fresh_end);
    if (old.rank != fresh.rank) changes.push_back({first, end - first, old.rank, fresh.rank});
    b += end == old_end ? 1 : 0, a += end == fresh_end ? 1 : 0;
  }
  return changes;
}

std::vector<HomeRun> runs_only_in(std::span<const HomeRun> a, std::span<const HomeRun> b) {
  std::vector<HomeRun> out;
  auto at = b.begin();
  for (const HomeRun& run : a) {
    while (at != b.end() && at->first < run.first) ++at;
    const bool same = at != b.end() && at->first == run.first && at->pages == run.pages && at->rank == run.rank;
    if (!same) out.push_back(run);
  }
  return out;
}

std::vector<HomeRun> with_moves(std::span<const HomeRun> homes, std::span<const HomeChange> moves) {
  std::vector<HomeRun> out;
  const auto add = [&out](const HomeRun& run) {
    if (run.pages == 0) return;
    HomeRun* const last = out.empty() ? nullptr : &out.back();
    if (last != nullptr && last->rank == run.rank && last->moves == run.moves) last->pages += run.pages;
    else out.push_back(run);
  };
  auto move = moves.begin();
  for (const HomeRun& run : homes) {
    uint64_t at = run.first;
    const uint64_t end = run.first + run.pages;
    for (; move != moves.end() && move->first < end; ++move) {
      const uint64_t begin = std::max(at, move->first), move_end = move->first + move->pages;
      add({at, begin - at, run.rank, run.moves});
      at = std::min(end, move_end);
      const auto again = static_cast<uint8_t>(std::min(run.moves + 1, UINT8_MAX));
      add({begin, at - begin, move->to, run.rank == move->to ? run.moves : again});
      if (move_end > end) break;  // it continues in the next run
    }
    add({at, end - at, run.rank, run.moves});
  }
  return out;
}

}  // namespace hiroba
