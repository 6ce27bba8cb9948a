#include "base/whereabouts.hpp"

#include <cstring>
#include <utility>

#include "base/status.hpp"

namespace hiroba {

std::string list_ranks(const std::vector<int>& ranks) {
  std::string out;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    out += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    if (end - i > 1) out += (end - i == 2 ? ", " : "-") + std::to_string(ranks[end - 1]);
    i = end;
  }
  return (ranks.size() == 1 ? "rank " : "ranks ") + out;
}

std::string whereabouts(Board& board, const std::vector<int>& ranks, size_t most) {
  std::vector<std::pair<std::string, std::vector<int>>> places;
  for (const int rank : ranks) {
    const RankBoard& at = board.rank(rank);
    const Phase phase = at.phase;
    if (phase == Phase::launched) continue;
    const std::string call(at.where, strnlen(at.where, sizeof at.where));
    const std::string place = phase == Phase::finished ? "after sms_shutdown"
                              : call.empty()           ? "before its first collective call"
                                                       : (at.waiting != 0 ? "in " : "after ") + call;
    size_t i = 0;
    while (i < places.size() && places[i].first != place) ++i;
    if (i == places.size()) places.push_back({place, {}});
    places[i].second.push_back(rank);
  }
  std::string out;
  for (size_t i = 0; i < places.size() && i < most; ++i) {
    const auto& [place, at] = places[i];
    const bool one = at.size() == 1, waits = place.starts_with("in ");
    out += format("%s%s %s %s", i == 0 ? "" : "; ", list_ranks(at).c_str(),
                  waits ? one ? "waits" : "wait"
                  : one ? "computes"
                        : "compute",
                  place.c_str());
  }
  if (places.size() > most) out += format("; and %zu more places", places.size() - most);
  return out;
}

}  // namespace hiroba
