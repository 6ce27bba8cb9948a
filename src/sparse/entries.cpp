#include "sparse/entries.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace hiroba {

namespace {

// Sorts the entries of rows [first, first + rows) into them, and adds equal ones.
template <typename T>
RowPiece<T> sorted_rows(int64_t first, int64_t rows, const std::vector<std::vector<MatrixEntry<T>>>& parts) {
  RowPiece<T> out;
  out.first = first;
  std::vector<int64_t> next(static_cast<size_t>(rows) + 1);
  for (const auto& part : parts)
    for (const MatrixEntry<T>& e : part) ++next[static_cast<size_t>(e.row - first) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  const std::vector<int64_t> begin = next;
  struct Placed {
    int64_t column;
    T value;
  };
  std::vector<Placed> columns(static_cast<size_t>(begin.back()));
  for (const auto& part : parts)
    for (const MatrixEntry<T>& e : part) columns[next[e.row - first]++] = {e.column, e.value};
  for (size_t i = 0; i < static_cast<size_t>(rows); ++i) {
    Placed* const placed = columns.data();
    out.add_row(std::span(placed + begin[i], placed + begin[i + 1]));
  }
  return out;
}

}  // namespace

template <typename T>
Status collect(const Ranks& ranks, const Rows& rows, const std::vector<MatrixEntry<T>>& entries, RowPiece<T>& out) {
  std::vector<std::vector<MatrixEntry<T>>> to(static_cast<size_t>(ranks.count())), from;
  for (const MatrixEntry<T>& e : entries) to[rows.owner(e.row)].push_back(e);
  HIROBA_TRY(ranks.exchange(to, from));
  to.clear();
  out = sorted_rows(rows.begin(ranks.me()), rows.of(ranks.me()), from);
  return {};
}

template <typename T>
Status divide_by_entries(const Ranks& ranks, int64_t n, const RowPiece<T>& piece, Rows& out) {
  const auto count = static_cast<size_t>(ranks.count());
  // A row costs as much as an entry for its result.
  std::vector<int64_t> before(count + 1);
  before[static_cast<size_t>(ranks.me()) + 1] = piece.start.back() + piece.rows();
  HIROBA_TRY(ranks.add(std::span(before)));
  std::partial_sum(before.begin(), before.end(), before.begin());
  const int64_t mine = before[ranks.me()], all = before.back();
  const int64_t unit = n / ranks.count() >= 8 * aligned_rows ? aligned_rows : 1;
  // The rank that has a row finds its cut.
  std::vector<int64_t> cuts(count + 1);
  for (size_t r = 1; r < count; ++r) {
    const auto goal = static_cast<int64_t>(static_cast<double>(all) * static_cast<double>(r) / ranks.count());
    if (goal < mine || goal >= mine + piece.start.back() + piece.rows()) continue;
    const int64_t row = piece.first + row_at(piece.start.data(), piece.rows(), goal - mine);
    cuts[r] = std::min(n, (row + unit / 2) / unit * unit);
  }
  cuts[count] = ranks.me() == 0 ? n : 0;
  HIROBA_TRY(ranks.add(std::span(cuts)));
  for (size_t r = 1; r < count; ++r) cuts[r] = std::max(cuts[r], cuts[r - 1]);
  out.cuts = cuts;
  return {};
}

template <typename T>
Status move_rows(const Ranks& ranks, const Rows& rows, RowPiece<T>& piece) {
  const auto count = static_cast<size_t>(ranks.count());
  std::vector<std::vector<int64_t>> lengths(count), columns(count), lengths_here, columns_here;
  std::vector<std::vector<T>> values(count), values_here;
  for (size_t r = 0; r < count; ++r) {
    const int64_t from = std::max(rows.begin(static_cast<int>(r)), piece.first) - piece.first;
    const int64_t to = std::min(rows.end(static_cast<int>(r)), piece.first + piece.rows()) - piece.first;
    if (from >= to) continue;
    const size_t begin = piece.begin(from), end = piece.begin(to);
    for (int64_t i = from; i < to; ++i) lengths[r].push_back(static_cast<int64_t>(piece.end(i) - piece.begin(i)));
    columns[r].assign(piece.column.data() + begin, piece.column.data() + end);
    values[r].assign(piece.value.data() + begin, piece.value.data() + end);
  }
  piece = {};
  HIROBA_TRY(ranks.exchange(lengths, lengths_here));
  HIROBA_TRY(ranks.exchange(columns, columns_here));
  HIROBA_TRY(ranks.exchange(values, values_here));
  piece.first = rows.begin(ranks.me());
  for (size_t r = 0; r < count; ++r) {
    for (const int64_t length : lengths_here[r]) piece.start.push_back(piece.start.back() + length);
    piece.column.insert(piece.column.end(), columns_here[r].begin(), columns_here[r].end());
    piece.value.insert(piece.value.end(), values_here[r].begin(), values_here[r].end());
  }
  return {};
}

namespace {

// Returns the value at (column, row) if `value` is at (row, column).
template <typename T>
T counterpart(Symmetry symmetry, const T& value) {
  if (symmetry == Symmetry::skew) return -value;
  return conjugated(value, symmetry == Symmetry::hermitian);
}

template <typename T>
std::string show(const T& value) {
  if constexpr (is_complex<T>) return format("(%.17g, %.17g)", double(value.real()), double(value.imag()));
  else return format("%.17g", static_cast<double>(value));
}

}  // namespace

template <typename T>
void mirror(Symmetry symmetry, std::vector<MatrixEntry<T>>& entries) {
  const size_t n = symmetry == Symmetry::none ? 0 : entries.size();
  for (size_t i = 0; i < n; ++i)
    if (const MatrixEntry<T> e = entries[i]; e.row != e.column)
      entries.push_back({e.column, e.row, counterpart(symmetry, e.value)});
}

template <typename T>
Status check_symmetry(const Ranks& ranks, const Rows& rows, Symmetry symmetry, const RowPiece<T>& piece) {
  if (symmetry == Symmetry::none) return {};
  std::vector<MatrixEntry<T>> mirrored;
  for (int64_t i = 0; i < piece.rows(); ++i)
    for (size_t k = piece.begin(i); k < piece.end(i); ++k)
      mirrored.push_back({piece.column[k], piece.first + i, counterpart(symmetry, piece.value[k])});
  RowPiece<T> other;
  HIROBA_TRY(collect(ranks, rows, mirrored, other));
  using R = Real<T>;
  constexpr R rounding = 16 * std::numeric_limits<R>::epsilon();
  for (int64_t i = 0; i < piece.rows(); ++i) {
    size_t k = piece.begin(i), m = other.begin(i);
    while (k < piece.end(i) || m < other.end(i)) {
      const int64_t none = std::numeric_limits<int64_t>::max();
      const int64_t at = k < piece.end(i) ? piece.column[k] : none, against = m < other.end(i) ? other.column[m] : none;
      const int64_t column = std::min(at, against);
      const T mine = at == column ? piece.value[k++] : T(0), theirs = against == column ? other.value[m++] : T(0);
      if (std::abs(mine - theirs) <= rounding * std::max(std::abs(mine), std::abs(theirs))) continue;
      const bool hermitian = symmetry == Symmetry::hermitian;
      return Status::error("the matrix is said to be %s, and entry (%ld, %ld) is %s where (%ld, %ld) makes it %s",
                           hermitian ? "Hermitian" : "symmetric", piece.first + i, column, show(mine).c_str(), column,
                           piece.first + i, show(theirs).c_str());
    }
  }
  return {};
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be in parentheses.
#define HIROBA_INSTANTIATE(T)                                                                              \
  template Status collect<T>(const Ranks&, const Rows&, const std::vector<MatrixEntry<T>>&, RowPiece<T>&); \
  template Status divide_by_entries<T>(const Ranks&, int64_t, const RowPiece<T>&, Rows&);                  \
  template Status move_rows<T>(const Ranks&, const Rows&, RowPiece<T>&);                                   \
  template void mirror<T>(Symmetry, std::vector<MatrixEntry<T>>&);                                         \
  template Status check_symmetry<T>(const Ranks&, const Rows&, Symmetry, const RowPiece<T>&);
// NOLINTEND(bugprone-macro-parentheses)
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
