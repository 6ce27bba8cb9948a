#include "sparse/halo.hpp"

#include <complex>
#include <limits>

namespace hiroba {

template <typename T>
Status Halo<T>::plan(const Ranks& ranks, const Rows& rows, const std::vector<int64_t>& needed) {
  const auto n = static_cast<size_t>(ranks.count());
  std::vector<std::vector<int64_t>> wanted(n), requested;
  for (const int64_t row : needed) wanted[rows.owner(row)].push_back(row);
  HIROBA_TRY(ranks.exchange(wanted, requested));
  std::vector<size_t> gives, takes;
  index_.clear();
  for (size_t r = 0; r < n; ++r) {
    for (const int64_t row : requested[r]) index_.push_back(static_cast<int32_t>(row - rows.begin(ranks.me())));
    gives.push_back(requested[r].size() * sizeof(T)), takes.push_back(wanted[r].size() * sizeof(T));
  }
  elements_.assign(needed.size(), T(0));

  // Parts end at page ends, so that the home of a rank's part is that rank.
  std::vector<int64_t> cuts(n + 1);
  constexpr int64_t page = page_bytes / sizeof(T);
  cuts[static_cast<size_t>(ranks.me()) + 1] = (sent() + page - 1) / page * page;
  HIROBA_TRY(ranks.add(std::span(cuts)));
  for (size_t r = 0; r < n; ++r) cuts[r + 1] += cuts[r];
  any_ = cuts[n] > 0, planned_ = true;
  if (!any_) return {};
  HIROBA_TRY(ranks.allocate(cuts, sizeof(T), "elements for other ranks", array_));
  packed_ = static_cast<T*>(array_) + cuts[ranks.me()];
  plan_ = plan_alltoallv(packed_, BlockTable::one_after_another(gives), elements_.data(),
                         BlockTable::one_after_another(takes));
  return {};
}

template <typename T>
Status Halo<T>::start(const Ranks& ranks, const T* x) {
  if (!any_) return {};
  in_parts(sent(), sent() * static_cast<int64_t>(sizeof(T)), line_elements<T>, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) packed_[i] = x[index_[i]];
  });
  return operation_.start(ranks, plan_, "elements of a sparse product");
}

template <typename T>
Status Halo<T>::wait(const Ranks& ranks, const T*& elements) {
  elements = elements_.data();
  return operation_.wait(ranks);
}

template <typename T>
Status Halo<T>::release(const Ranks& ranks) {
  planned_ = any_ = false;
  return array_ == nullptr ? Status() : ranks.free(std::exchange(array_, nullptr));
}

#define HIROBA_INSTANTIATE(T) template class Halo<T>;
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
