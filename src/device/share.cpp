#include "device/share.hpp"

#include <cstddef>
#include <cstdint>

namespace hiroba {

namespace {

// The index with the smallest load; where `domain` is known, of those with this domain, if there are any.
size_t least(const std::vector<int>& domains, int domain, const std::vector<int>& load) {
  size_t best = SIZE_MAX;
  const auto search = [&](bool same_domain) {
    for (size_t i = 0; i < domains.size(); ++i)
      if ((!same_domain || domains[i] == domain) && (best == SIZE_MAX || load[i] < load[best])) best = i;
  };
  if (domain >= 0) search(true);
  if (best == SIZE_MAX) search(false);
  return best;
}

}  // namespace

std::vector<std::vector<int>> share_devices(const std::vector<int>& rank_domains, const std::vector<int>& domains) {
  std::vector<std::vector<int>> out(rank_domains.size());
  if (domains.empty()) return out;
  std::vector<int> has(rank_domains.size()), users(domains.size());
  const size_t most = (domains.size() + rank_domains.size() - 1) / rank_domains.size();
  for (size_t d = 0; d < domains.size(); ++d) {
    size_t rank = least(rank_domains, domains[d], has);
    if (out[rank].size() >= most) rank = least(rank_domains, -1, has);
    out[rank].push_back(static_cast<int>(d));
    ++has[rank], ++users[d];
  }
  for (size_t r = 0; r < out.size(); ++r) {
    if (!out[r].empty()) continue;
    const size_t d = least(domains, rank_domains[r], users);
    out[r].push_back(static_cast<int>(d));
    ++users[d];
  }
  return out;
}

}  // namespace hiroba
