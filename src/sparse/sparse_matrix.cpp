#include "sparse/sparse_matrix.hpp"

#include <algorithm>

namespace hiroba {

namespace {

// Returns the columns that other ranks own, ascending.
template <typename T>
std::vector<int64_t> columns_of_others(const RowPiece<T>& piece, int64_t begin, int64_t end) {
  std::vector<int64_t> out;
  for (const int64_t column : piece.column)
    if (column < begin || column >= end) out.push_back(column);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

template <typename T>
void split(const RowPiece<T>& piece, int64_t begin, int64_t end, const std::vector<int64_t>& needed, LocalRows<T>& own,
           LocalRows<T>& others) {
  for (int64_t i = 0; i < piece.rows(); ++i) {
    for (size_t k = piece.begin(i); k < piece.end(i); ++k) {
      const int64_t column = piece.column[k];
      const bool is_own = column >= begin && column < end;
      LocalRows<T>& to = is_own ? own : others;
      const int64_t local =
          is_own ? column - begin : std::lower_bound(needed.begin(), needed.end(), column) - needed.begin();
      to.column.push_back(static_cast<int32_t>(local)), to.value.push_back(piece.value[k]);
    }
    own.start.push_back(std::ssize(own.column)), own.to.push_back(static_cast<int32_t>(i));
    if (std::ssize(others.column) == others.start.back()) continue;
    others.start.push_back(std::ssize(others.column)), others.to.push_back(static_cast<int32_t>(i));
  }
}

}  // namespace

template <typename T>
Status SparseMatrix<T>::make(const Ranks& ranks, const Rows& rows, const RowPiece<T>& piece, Format format,
                             std::unique_ptr<SparseMatrix>& out) {
  auto made = std::make_unique<SparseMatrix>();
  SparseMatrix& p = *made;
  const int64_t begin = rows.begin(ranks.me()), end = rows.end(ranks.me());
  p.rows_ = rows;
  p.needed_ = columns_of_others(piece, begin, end);
  if (end - begin > most_rows || std::ssize(p.needed_) > most_rows)
    return Status::error(
        "this rank has %ld rows and uses %zu elements of others; a rank has at most %ld; use more ranks", end - begin,
        p.needed_.size(), most_rows);
  LocalRows<T> own, others;
  split(piece, begin, end, p.needed_, own, others);
  p.own_ = SparseBlock<T>::make(std::move(own), format), p.others_ = SparseBlock<T>::make(std::move(others), format);

  // A rank's part is whole pages, so that its home is that rank.
  std::vector<int64_t> cuts(static_cast<size_t>(ranks.count()) + 1);
  const size_t bytes = p.own_.bytes() + p.others_.bytes();
  cuts[static_cast<size_t>(ranks.me()) + 1] = static_cast<int64_t>((bytes + page_bytes - 1) / page_bytes);
  p.facts_.entries = std::ssize(piece.column);
  HIROBA_TRY(ranks.add(std::span(cuts)));
  HIROBA_TRY(ranks.add(p.facts_.entries));
  for (size_t r = 1; r < cuts.size(); ++r) cuts[r] += cuts[r - 1];
  HIROBA_TRY(ranks.allocate(cuts, page_bytes, "sparse matrix", p.memory_));
  char* const part = static_cast<char*>(p.memory_) + cuts[ranks.me()] * page_bytes;
  const size_t own_bytes = p.own_.bytes();
  p.own_.place(part), p.others_.place(part + own_bytes);
  HIROBA_TRY(ranks.use_huge_pages(p.memory_));
  p.facts_.rows = rows.count(), p.facts_.stored = p.own_.stored() + p.others_.stored();
  p.facts_.fetched = std::ssize(p.needed_), p.facts_.sell = p.own_.format() == Format::sell;
  out = std::move(made);
  return {};
}

template <typename T>
Status SparseMatrix<T>::apply(const Ranks& ranks, const T* x, T* y) {
  if (!halo_.planned()) HIROBA_TRY(halo_.plan(ranks, rows_, needed_));
  HIROBA_TRY(halo_.start(ranks, x));
  own_.multiply(x, y, false);
  const T* elements = nullptr;
  HIROBA_TRY(halo_.wait(ranks, elements));
  others_.multiply(elements, y, true);
  return {};
}

template <typename T>
Status SparseMatrix<T>::release(const Ranks& ranks) {
  HIROBA_TRY(halo_.release(ranks));
  return memory_ == nullptr ? Status() : ranks.free(std::exchange(memory_, nullptr));
}

#define HIROBA_INSTANTIATE(T) template class SparseMatrix<T>;
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
