#include <algorithm>
#include <cmath>

#include "sparse/market_file.hpp"
#include "sparse/sparse.hpp"

namespace hiroba {

namespace {

template <typename T>
bool is_finite(const T& value) {
  if constexpr (is_complex<T>) return std::isfinite(value.real()) && std::isfinite(value.imag());
  else return std::isfinite(value);
}

Status check_size(const Ranks& ranks, int64_t n, const MatrixOptions& options) {
  const int64_t values[] = {n, static_cast<int64_t>(options.format), static_cast<int64_t>(options.symmetry),
                            options.one_triangle ? 1 : 0};
  HIROBA_TRY(ranks.agree(values, "numbers of rows, or flags"));
  if (n < 1) return Status::error("a matrix of %ld rows; it has at least 1", n);
  if ((n - 1) / ranks.count() < most_rows) return {};
  return Status::error("a matrix of %ld rows on %d ranks; a rank has at most %ld; use more ranks", n, ranks.count(),
                       most_rows);
}

template <typename T>
Status check_entry(int64_t n, const MatrixEntry<T>& e, const char* from, int64_t number) {
  if (e.row < 0 || e.row >= n || e.column < 0 || e.column >= n)
    return Status::error("%s %ld: entry (%ld, %ld) is outside the matrix, whose rows and columns are 0..%ld", from,
                         number, e.row, e.column, n - 1);
  if (!is_finite(e.value))
    return Status::error("%s %ld: entry (%ld, %ld) is not a finite number", from, number, e.row, e.column);
  return {};
}

template <typename T>
bool makes_hermitian(Symmetry symmetry) {
  return symmetry == Symmetry::hermitian || (symmetry == Symmetry::symmetric && !is_complex<T>);
}

// Makes the matrix from rows that are divided equally.
template <typename T>
Status finish(const Ranks& ranks, int64_t n, RowPiece<T> piece, const MatrixOptions& options,
              std::unique_ptr<SparseMatrix<T>>& out) {
  if (!options.one_triangle) HIROBA_TRY(check_symmetry(ranks, Rows::equal(n, ranks.count()), options.symmetry, piece));
  Rows rows;
  HIROBA_TRY(divide_by_entries(ranks, n, piece, rows));
  HIROBA_TRY(move_rows(ranks, rows, piece));
  HIROBA_TRY(SparseMatrix<T>::make(ranks, rows, piece, options.format, out));
  out->known_hermitian = makes_hermitian<T>(options.symmetry);
  return {};
}

}  // namespace

template <typename T>
Status matrix_of_entries(const Ranks& ranks, int64_t n, std::vector<MatrixEntry<T>> entries,
                         const MatrixOptions& options, std::unique_ptr<SparseMatrix<T>>& out) {
  HIROBA_TRY(check_size(ranks, n, options));
  for (size_t i = 0; i < entries.size(); ++i)
    HIROBA_TRY(check_entry(n, entries[i], "triplet", static_cast<int64_t>(i)));
  if (options.one_triangle) mirror(options.symmetry, entries);
  RowPiece<T> piece;
  HIROBA_TRY(collect(ranks, Rows::equal(n, ranks.count()), entries, piece));
  entries = {};
  return finish(ranks, n, std::move(piece), options, out);
}

template <typename T>
Status matrix_of_function(const Ranks& ranks, int64_t n, int64_t most, const RowFunction<T>& row,
                          const MatrixOptions& options, std::unique_ptr<SparseMatrix<T>>& out) {
  HIROBA_TRY(check_size(ranks, n, options));
  if (most < 1) return Status::error("a row has at most %ld entries; it must be at least 1", most);
  const Rows rows = Rows::equal(n, ranks.count());
  std::vector<int64_t> columns(static_cast<size_t>(most));
  std::vector<T> values(static_cast<size_t>(most));
  std::vector<MatrixEntry<T>> of_row, all;
  RowPiece<T> piece;
  piece.first = rows.begin(ranks.me());
  for (int64_t i = piece.first; i < rows.end(ranks.me()); ++i) {
    const int64_t count = row(i, columns.data(), values.data());
    if (count < 0 || count > most)
      return Status::error("the function gives %ld entries for row %ld; it may give up to %ld", count, i, most);
    of_row.clear();
    for (size_t k = 0; k < static_cast<size_t>(count); ++k) {
      of_row.push_back({i, columns[k], values[k]});
      HIROBA_TRY(check_entry(n, of_row.back(), "row", i));
    }
    if (options.one_triangle) all.insert(all.end(), of_row.begin(), of_row.end());
    else piece.add_row(std::span(of_row));
  }
  if (options.one_triangle) return matrix_of_entries(ranks, n, std::move(all), options, out);
  return finish(ranks, n, std::move(piece), options, out);
}

template <typename T>
Status matrix_of_file(const Ranks& ranks, const std::string& path, const MatrixOptions& options,
                      std::unique_ptr<SparseMatrix<T>>& out) {
  MarketFile file;
  MarketFile::Header header;
  std::vector<MatrixEntry<T>> entries;
  HIROBA_TRY(file.open(path));
  HIROBA_TRY(file.read_header(header));
  HIROBA_TRY(file.read_entries(header, ranks.me(), ranks.count(), entries));
  auto found = std::ssize(entries);
  HIROBA_TRY(ranks.add(found));
  if (found != header.entries)
    return Status::error("%s has %ld entries, and says that it has %ld%s", path.c_str(), found, header.entries,
                         found < header.entries ? ": it is truncated" : "");
  mirror(header.symmetry, entries);
  MatrixOptions rest = options;
  const bool same = header.symmetry == options.symmetry;
  const bool real = !is_complex<T> && header.symmetry == Symmetry::symmetric;  // and therefore Hermitian
  if (same || real) rest.symmetry = Symmetry::none;
  HIROBA_TRY(matrix_of_entries(ranks, header.rows, std::move(entries), rest, out));
  out->known_hermitian = out->known_hermitian || makes_hermitian<T>(header.symmetry);
  return {};
}

Status check_vector(const Rows& rows, const char* name, const SharedVector& vector) {
  Status status;
  for_each_run(vector, 0, vector.length, [&](const OwnedRun& run) {
    const int owner = rows.owner(run.begin);
    if (!status.ok() || (owner == run.owner && run.end <= rows.end(owner))) return;
    const int64_t at = owner == run.owner ? rows.end(owner) : run.begin;
    status = Status::error(
        "%s: rank %d has its element %ld, and rank %d row %ld; take a vector that is divided as the rows are, and copy "
        "this one into it, if that is meant",
        name, run.owner, at, rows.owner(at), at);
  });
  if (!status.ok() || vector.step == vector.bytes) return status;
  return Status::error("%s: its elements are not one after another", name);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be in parentheses.
#define HIROBA_INSTANTIATE(T)                                                                                        \
  template Status matrix_of_entries<T>(const Ranks&, int64_t, std::vector<MatrixEntry<T>>, const MatrixOptions&,     \
                                       std::unique_ptr<SparseMatrix<T>>&);                                           \
  template Status matrix_of_function<T>(const Ranks&, int64_t, int64_t, const RowFunction<T>&, const MatrixOptions&, \
                                        std::unique_ptr<SparseMatrix<T>>&);                                          \
  template Status matrix_of_file<T>(const Ranks&, const std::string&, const MatrixOptions&,                          \
                                    std::unique_ptr<SparseMatrix<T>>&);
// NOLINTEND(bugprone-macro-parentheses)
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
