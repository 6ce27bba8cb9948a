#include "memory/record/placement.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/status.hpp"
#include "base/tables/phrases.hpp"
#include "base/text.hpp"
#include "memory/array.hpp"

namespace hiroba {

namespace {

// The same array in all ranks.
struct Sum {
  ArrayPlacement of_all = {};
  std::string ranks;

  void add(const ArrayPlacement& part, size_t rank) {
    const uint64_t alone = of_all.alone + part.alone, sent = of_all.sent + part.sent;
    if (of_all.moved + of_all.kept == 0) of_all = part;  // all ranks count the moves of all
    of_all.alone = alone, of_all.sent = sent;
    if (part.alone > 0) ranks += format("%s%lu by rank %zu", ranks.empty() ? "" : ", ", part.alone, rank);
  }
};

std::string describe(const ArrayPlacement& p, const std::string& ranks, size_t most_runs) {
  constexpr const char* names[] = {"fixed", "first-touch", "migrating"};
  const char* const policy = names[p.policy % 3];
  std::string out;
  if (p.moved > 0)
    out += format("%s: homes %s: %lu pages have moved to ranks that write them, %lu of them not for the first time\n",
                  p.name, policy, p.moved, p.moved_again);
  if (p.kept > 0)
    out += format(
        "%s: homes %s: %lu pages were not moved, because at most %zu runs of pages may lie elsewhere than "
        "arrays are distributed\n",
        p.name, policy, p.kept, most_runs);
  if (p.alone == 0) return out;
  out += format(
      "%s: homes %s: %lu pages (%s) have long been written by one rank alone, on another node than their "
      "home: %s; %s of this array were sent to homes. ",
      p.name, policy, p.alone, show_bytes(p.alone << page_shift).c_str(), ranks.c_str(), show_bytes(p.sent).c_str());
  if (p.policy == static_cast<int32_t>(HomePolicy::migrating))
    return out + "They need more intervals, because they have moved before, or too many have moved\n";
  return out + format("It would gain from %s, or from homes that migrate (option homes, %s)\n", phrases().move_homes,
                      phrases().set_homes);
}

}  // namespace

std::vector<ArrayPlacement> placements_of(const RunRecord& record) {
  std::vector<ArrayPlacement> out;
  for (uint32_t i = 0; i < std::min(record.arrays_used.load(), RunRecord::most_arrays); ++i) {
    const ArrayRecord& a = record.arrays[i];
    ArrayPlacement p = {};
    std::memcpy(p.name, a.name, sizeof p.name);
    p.pages = a.pages, p.alone = a.alone, p.policy = a.policy;
    p.sent = count_of(a, ArrayCount::bytes_sent), p.moved = count_of(a, ArrayCount::homes_moved);
    p.moved_again = count_of(a, ArrayCount::homes_moved_again), p.kept = count_of(a, ArrayCount::homes_kept);
    if (p.alone + p.moved + p.kept > 0) out.push_back(p);
  }
  return out;
}

std::string describe_placements(const std::vector<std::vector<char>>& all, size_t most_runs) {
  std::map<std::pair<std::string, uint64_t>, Sum> sums;
  for (size_t rank = 0; rank < all.size(); ++rank)
    for (size_t at = 0; at + sizeof(ArrayPlacement) <= all[rank].size(); at += sizeof(ArrayPlacement)) {
      ArrayPlacement part;
      std::memcpy(&part, all[rank].data() + at, sizeof part);
      sums[{part.name, part.pages}].add(part, rank);
    }
  std::string out;
  for (const auto& [key, sum] : sums) out += describe(sum.of_all, sum.ranks, most_runs);
  return out;
}

}  // namespace hiroba
