#include "linear/operands.hpp"

#include <algorithm>

namespace hiroba {

namespace {

bool equal(const Distribution& a, const Distribution& b) {
  bool same = a.dims() == b.dims() && a.first() == b.first() && a.element_bytes() == b.element_bytes() &&
              std::ranges::equal(a.cuts(), b.cuts());
  for (int d = 0; same && d < a.dims(); ++d) same = a.dim(d) == b.dim(d) && a.div(d) == b.div(d);
  return same;
}

// Returns the number of rows from i on in the run of the first element of row i; 0 if row i is not all in it.
int64_t whole_rows(const SharedMatrix& a, int64_t i) {
  const Distribution& d = a.array->distribution;
  const auto element_bytes = static_cast<int64_t>(d.element_bytes());
  const int64_t end =
      static_cast<int64_t>(d.owner_run_end(static_cast<uint64_t>(a.at(i, 0) / element_bytes))) * element_bytes;
  const int64_t left = end - a.at(i, a.columns);
  return left < 0 ? 0 : std::min(a.rows - i, left / a.row_step + 1);
}

}  // namespace

bool same_owners(const SharedVector& a, const SharedVector& b) {
  if (a.first == b.first && a.step == b.step && equal(a.array->distribution, b.array->distribution)) return true;
  bool same = true;
  for_each_run(a, 0, a.length, [&](const OwnedRun& run) {
    if (!same) return;
    for_each_run(b, run.begin, run.end, [&](const OwnedRun& other) { same = same && other.owner == run.owner; });
  });
  return same;
}

std::vector<MatrixTile> tiles_of(int rank, const SharedMatrix& a) {
  std::vector<MatrixTile> out;
  size_t open = 0;  // tiles from here on may continue in the next row
  for (int64_t i = 0; i < a.rows;) {
    const size_t first = out.size();
    int64_t rows = whole_rows(a, i);
    if (rows > 0) {
      if (run_at(a.row(i), 0).owner == rank) out.push_back({i, rows, 0, a.columns});
    } else {
      rows = 1;
      for_runs_of(rank, a.row(i), 0, a.columns,
                  [&](int64_t begin, int64_t end) { out.push_back({i, 1, begin, end - begin}); });
    }
    const auto alike = [&](const MatrixTile& above, const MatrixTile& below) {
      return above.row + above.rows == i && above.column == below.column && above.columns == below.columns;
    };
    if (first - open == out.size() - first &&
        std::equal(out.begin() + static_cast<ptrdiff_t>(open), out.begin() + static_cast<ptrdiff_t>(first),
                   out.begin() + static_cast<ptrdiff_t>(first), alike)) {
      for (size_t t = open; t < first; ++t) out[t].rows += rows;
      out.resize(first);
    } else {
      open = first;
    }
    i += rows;
  }
  return out;
}

bool rows_with(const SharedMatrix& a, const SharedVector& v) {
  for (int64_t i = 0; i < a.rows;) {
    const int64_t rows = whole_rows(a, i);
    if (rows == 0) return false;
    const int owner = run_at(a.row(i), 0).owner;
    bool same = true;
    for_each_run(v, i, i + rows, [&](const OwnedRun& run) { same = same && run.owner == owner; });
    if (!same) return false;
    i += rows;
  }
  return true;
}

bool columns_with(const SharedMatrix& a, const SharedVector& v) {
  for (int64_t i = 0; i < a.rows;) {
    if (!same_owners(a.row(i), v)) return false;
    i += std::max<int64_t>(1, whole_rows(a, i));
  }
  return true;
}

}  // namespace hiroba
