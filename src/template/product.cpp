#include "template/product.hpp"

#include <algorithm>
#include <cstring>

#include "template/transfer.hpp"

namespace hiroba {

namespace {

constexpr int64_t panel = 128;            // rows of b that are fetched at once
constexpr int64_t columns_at_once = 512;  // of x: with a panel of b they fit a processor's second cache

// x += a b, of matrices that lie one row after the other.
template <typename T>
void add_product(T* x, const T* a, const T* b, int64_t rows, int64_t inner, int64_t columns) {
  for (int64_t first = 0; first < columns; first += columns_at_once) {
    const int64_t past = std::min(columns, first + columns_at_once);
    for (int64_t i = 0; i < rows; ++i) {
      T* const __restrict to = x + i * columns;
      for (int64_t k = 0; k < inner; ++k) {
        const T factor = a[i * inner + k];
        const T* const row = b + k * columns;
        for (int64_t j = first; j < past; ++j) to[j] = static_cast<T>(to[j] + factor * row[j]);
      }
    }
  }
}

// A layout with a dimension of another, and one that each node has all of.
AlignedLayout beside(const AlignedLayout& x, int d, int64_t extent, size_t element) {
  AlignedLayout::Dim whole, divided = x.dim(d);
  whole.extent = extent;
  divided.low = divided.high = 0, divided.full = false;
  return {x.on(), d == 0 ? std::vector{divided, whole} : std::vector{whole, divided}, element};
}

TransferSide all_of(const AlignedLayout& layout, char* data) {
  TransferSide out = {&layout, data, {}};
  for (int d = 0; d < layout.dims(); ++d) out.dims.push_back({0, 1, layout.dim(d).extent});
  return out;
}

template <typename T>
Status product(TeamOperations& teams, const Team& team, int me, const Call& call, const AlignedPart& x,
               const AlignedPart& a, const AlignedPart& b) {
  const std::vector<std::vector<OwnIndex>> own = own_indices(*x.layout, me);
  const auto rows = static_cast<int64_t>(own[0].size()), columns = static_cast<int64_t>(own[1].size());
  const int64_t inner = a.layout->dim(1).extent, most = std::min(inner, panel);
  const auto memory = [](int64_t count) {
    return std::make_unique<T[]>(static_cast<size_t>(std::max<int64_t>(count, 1)));
  };
  const auto sum = memory(rows * columns), left = memory(rows * most), right = memory(most * columns);
  for (int64_t first = 0; first < inner; first += panel) {
    const int64_t count = std::min(panel, inner - first);
    const auto fetch = [&](const AlignedPart& from, int d, T* to) {
      const AlignedLayout layout = beside(*x.layout, d, count, sizeof(T));
      TransferSide source = all_of(*from.layout, from.data);
      source.dims[1 - d] = {first, 1, count};
      return Transfer::of_sections(team, me, all_of(layout, reinterpret_cast<char*>(to)), source, sizeof(T))
          .perform(teams, call);
    };
    HIROBA_TRY(fetch(a, 0, left.get()));
    HIROBA_TRY(fetch(b, 1, right.get()));
    add_product(sum.get(), left.get(), right.get(), rows, count, columns);
  }
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      std::memcpy(x.data + own[0][i].at + own[1][j].at, &sum[i * columns + j], sizeof(T));
  return {};
}

}  // namespace

Status multiply(TeamOperations& teams, const Team& team, int me, const Call& call, Type type, const AlignedPart& x,
                const AlignedPart& a, const AlignedPart& b) {
  return with_type(type, [&]<typename T>() { return product<T>(teams, team, me, call, x, a, b); });
}

}  // namespace hiroba
