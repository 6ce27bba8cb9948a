// Vectors and matrices in shared arrays: the places of their elements, and their owners. The distribution of an operand
// is that of its array; a vector may be any row, column or diagonal of it.
//
// Values. Positions are bytes of the array, so an element of the operand may be a part of an element of the array.
#pragma once

#include <span>
#include <vector>

#include "base/division.hpp"
#include "memory/memory.hpp"

namespace hiroba {

// Elements first + i * step, in bytes of the array; made of arguments in BLAS's form.
struct SharedVector {
  Array* array = nullptr;
  int64_t first = 0, step = 0;    // of element 0; from each to the next
  int64_t length = 0, bytes = 0;  // of an element
  bool operator==(const SharedVector&) const = default;

  int64_t at(int64_t i) const { return first + i * step; }
  template <typename T>
  T* element(int64_t i) const {
    return reinterpret_cast<T*>(array->data + at(i));
  }
  // Returns the step in elements.
  int64_t stride() const { return step / bytes; }
};

// Rows of consecutive elements.
struct SharedMatrix {
  Array* array = nullptr;
  int64_t first = 0, row_step = 0;
  int64_t rows = 0, columns = 0, bytes = 0;
  bool operator==(const SharedMatrix&) const = default;

  int64_t at(int64_t i, int64_t j) const { return first + i * row_step + j * bytes; }
  template <typename T>
  T* element(int64_t i, int64_t j) const {
    return reinterpret_cast<T*>(array->data + at(i, j));
  }
  SharedVector row(int64_t i) const { return {array, at(i, 0), bytes, columns, bytes}; }
  SharedVector column(int64_t j) const { return {array, at(0, j), row_step, rows, bytes}; }
};

// Elements [begin, end) of a vector, all of one rank.
struct OwnedRun {
  int64_t begin, end;
  int owner;
};

// Returns the run of element i, from i on to its end; for vectors that go backwards, from its begin on to i.
inline OwnedRun run_at(const SharedVector& v, int64_t i) {
  const Distribution& d = v.array->distribution;
  const auto element_bytes = static_cast<int64_t>(d.element_bytes());
  const auto element = static_cast<uint64_t>(v.at(i) / element_bytes);
  const int64_t end = static_cast<int64_t>(d.owner_run_end(element)) * element_bytes;
  return {i, std::min(v.length, i + (end - v.at(i) + v.step - 1) / v.step), d.owner(element)};
}

// Returns the same vector from its other end.
inline SharedVector reversed(SharedVector v) {
  v.first = v.at(v.length - 1), v.step = -v.step;
  return v;
}

// Calls visit(run) for all runs that have elements of [begin, end), cut to these: in order, or, for vectors that go
// backwards, in the reverse order.
template <typename Visit>
void for_each_run(const SharedVector& v, int64_t begin, int64_t end, const Visit& visit) {
  if (begin >= end) return;
  const bool backward = v.step < 0;
  const SharedVector forward = backward ? reversed(v) : v;
  const int64_t n = v.length, last = backward ? n - begin : end;
  for (int64_t i = backward ? n - end : begin; i < last;) {
    OwnedRun run = run_at(forward, i);
    i = run.end = std::min(run.end, last);
    if (backward) run = {n - run.end, n - run.begin, run.owner};
    visit(run);
  }
}

template <typename Visit>
void for_runs_of(int rank, const SharedVector& v, int64_t begin, int64_t end, const Visit& visit) {
  for_each_run(v, begin, end, [&](const OwnedRun& run) {
    if (run.owner == rank) visit(run.begin, run.end);
  });
}

// Returns true if each element of one has the owner of the same element of the other.
bool same_owners(const SharedVector& a, const SharedVector& b);

// A rectangle of a matrix.
struct MatrixTile {
  int64_t row, rows, column, columns;
};
// Returns the tiles of a matrix that a rank owns, in order of rows. Consecutive rows that are cut alike are one tile.
std::vector<MatrixTile> tiles_of(int rank, const SharedMatrix& a);
// Returns true if the owner of element i of the vector owns the whole row i, or column i, of the matrix.
bool rows_with(const SharedMatrix& a, const SharedVector& v);
bool columns_with(const SharedMatrix& a, const SharedVector& v);

}  // namespace hiroba
