// The contract of this floor: sparse matrices and other linear operators on vectors that are divided over the ranks,
// and the creation of matrices.
//
// The creator of an operator owns it; release() frees its shared memory. Everything is collective: all ranks make the
// same calls in the same order with the same arguments, except for the entries that each has. README.md beside this
// file has the division of the work, and the messages.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sparse/block.hpp"
#include "sparse/entries.hpp"
#include "sparse/functions.hpp"
#include "sparse/operator.hpp"
#include "sparse/ranks.hpp"
#include "sparse/rows.hpp"
#include "sparse/sparse_matrix.hpp"

namespace hiroba {

struct MatrixOptions {
  Format format = Format::automatic;
  Symmetry symmetry = Symmetry::none;  // of the whole matrix: checked
  bool one_triangle = false;           // entries are those of one triangle; `symmetry` gives the other one
};

// Makes a matrix from entries of all ranks; those at the same place are added.
template <typename T>
Status matrix_of_entries(const Ranks& ranks, int64_t n, std::vector<MatrixEntry<T>> entries,
                         const MatrixOptions& options, std::unique_ptr<SparseMatrix<T>>& out);
// Makes a matrix from a function that gives the entries of a row: it returns their number, at most `most`.
template <typename T>
using RowFunction = std::function<int64_t(int64_t row, int64_t* columns, T* values)>;
template <typename T>
Status matrix_of_function(const Ranks& ranks, int64_t n, int64_t most, const RowFunction<T>& row,
                          const MatrixOptions& options, std::unique_ptr<SparseMatrix<T>>& out);
// Reads a Matrix Market file, of which each rank reads a part. The file or the options define the symmetry.
template <typename T>
Status matrix_of_file(const Ranks& ranks, const std::string& path, const MatrixOptions& options,
                      std::unique_ptr<SparseMatrix<T>>& out);

// Checks that the vector's elements are distributed as the rows; `name` is the argument's.
Status check_vector(const Rows& rows, const char* name, const SharedVector& vector);

}  // namespace hiroba
