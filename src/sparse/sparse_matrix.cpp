#include "sparse/sparse_matrix.hpp"

#include <algorithm>

#include "sparse/block.hpp"
#include "sparse/entries.hpp"
#include "sparse/halo.hpp"

namespace hiroba {

template <typename T>
struct MatrixParts {
  Rows rows;
  SparseBlock<T> own, others;
  std::vector<int64_t> needed;  // columns of others
  Halo<T> halo;
  void* memory = nullptr;
  MatrixFacts facts;
};

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
    for (auto k = static_cast<size_t>(piece.start[static_cast<size_t>(i)]);
         k < static_cast<size_t>(piece.start[static_cast<size_t>(i) + 1]); ++k) {
      const int64_t column = piece.column[k];
      const bool is_own = column >= begin && column < end;
      LocalRows<T>& to = is_own ? own : others;
      const int64_t local =
          is_own ? column - begin : std::lower_bound(needed.begin(), needed.end(), column) - needed.begin();
      to.column.push_back(static_cast<int32_t>(local)), to.value.push_back(piece.value[k]);
    }
    own.start.push_back(static_cast<int64_t>(own.column.size())), own.to.push_back(static_cast<int32_t>(i));
    if (static_cast<int64_t>(others.column.size()) == others.start.back()) continue;
    others.start.push_back(static_cast<int64_t>(others.column.size())), others.to.push_back(static_cast<int32_t>(i));
  }
}

}  // namespace

template <typename T>
Status SparseMatrix<T>::make(const Ranks& ranks, const Rows& rows, const RowPiece<T>& piece, Format format,
                             std::unique_ptr<SparseMatrix>& out) {
  auto made = std::make_unique<SparseMatrix>();
  MatrixParts<T>& p = *made->parts_;
  const int64_t begin = rows.begin(ranks.me()), end = rows.end(ranks.me());
  p.rows = rows;
  p.needed = columns_of_others(piece, begin, end);
  if (end - begin > most_rows || static_cast<int64_t>(p.needed.size()) > most_rows)
    return Status::error(
        hiroba::format("this rank has %lld rows and uses %lld elements of others; a rank has at most %lld; "
                       "use more ranks",
                       static_cast<long long>(end - begin), static_cast<long long>(p.needed.size()),
                       static_cast<long long>(most_rows)));
  LocalRows<T> own, others;
  split(piece, begin, end, p.needed, own, others);
  p.own = SparseBlock<T>::make(std::move(own), format), p.others = SparseBlock<T>::make(std::move(others), format);

  // A rank's part is whole pages, so that its home is that rank.
  std::vector<int64_t> cuts(static_cast<size_t>(ranks.count()) + 1);
  const size_t bytes = p.own.bytes() + p.others.bytes();
  cuts[static_cast<size_t>(ranks.me()) + 1] = static_cast<int64_t>((bytes + page_bytes - 1) / page_bytes);
  p.facts.entries = static_cast<int64_t>(piece.column.size());
  HIROBA_TRY(ranks.add(std::span(cuts)));
  HIROBA_TRY(ranks.add(p.facts.entries));
  for (size_t r = 1; r < cuts.size(); ++r) cuts[r] += cuts[r - 1];
  HIROBA_TRY(ranks.allocate(cuts, page_bytes, "sparse matrix", p.memory));
  char* const part = static_cast<char*>(p.memory) + cuts[static_cast<size_t>(ranks.me())] * page_bytes;
  const size_t own_bytes = p.own.bytes();
  p.own.place(part), p.others.place(part + own_bytes);
  HIROBA_TRY(ranks.use_huge_pages(p.memory));
  p.facts.rows = rows.count(), p.facts.stored = p.own.stored() + p.others.stored();
  p.facts.fetched = static_cast<int64_t>(p.needed.size()), p.facts.sell = p.own.format() == Format::sell;
  out = std::move(made);
  return {};
}

template <typename T>
SparseMatrix<T>::SparseMatrix() : parts_(std::make_unique<MatrixParts<T>>()) {}
template <typename T>
SparseMatrix<T>::~SparseMatrix() = default;

template <typename T>
const Rows& SparseMatrix<T>::rows() const {
  return parts_->rows;
}
template <typename T>
std::string SparseMatrix<T>::what() const {
  return hiroba::format("matrix of %lld rows", static_cast<long long>(parts_->rows.count()));
}
template <typename T>
const MatrixFacts& SparseMatrix<T>::facts() const {
  return parts_->facts;
}
template <typename T>
LocalRows<T> SparseMatrix<T>::own_block() const {
  return parts_->own.entries();
}

template <typename T>
LocalRows<T> SparseMatrix<T>::others_block() const {
  return parts_->others.entries();
}

template <typename T>
Status SparseMatrix<T>::apply(const Ranks& ranks, const T* x, T* y) {
  MatrixParts<T>& p = *parts_;
  if (!p.halo.planned()) HIROBA_TRY(p.halo.plan(ranks, p.rows, p.needed));
  HIROBA_TRY(p.halo.start(ranks, x));
  p.own.multiply(x, y, false);
  const T* elements = nullptr;
  HIROBA_TRY(p.halo.wait(ranks, elements));
  p.others.multiply(elements, y, true);
  return {};
}

template <typename T>
Status SparseMatrix<T>::release(const Ranks& ranks) {
  HIROBA_TRY(parts_->halo.release(ranks));
  return parts_->memory == nullptr ? Status() : ranks.free(std::exchange(parts_->memory, nullptr));
}

template class SparseMatrix<float>;
template class SparseMatrix<double>;
template class SparseMatrix<std::complex<float>>;
template class SparseMatrix<std::complex<double>>;

}  // namespace hiroba
