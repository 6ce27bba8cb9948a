// Small dense problems, by LAPACK, which is loaded when first needed: libopenblas.so.0, or liblapack.so.3.
//
// Values and functions; one call at a time. They compute with one thread.
#pragma once

#include <complex>
#include <vector>

#include "eigen/eigen.hpp"

namespace hiroba {

// A matrix of columns; W is double or complex of double.
template <typename W>
struct Dense {
  int rows = 0, columns = 0;
  std::vector<W> values;
  Dense() = default;
  Dense(int r, int c) : rows(r), columns(c), values(static_cast<size_t>(r) * static_cast<size_t>(c)) {}
  W& at(int i, int j) { return values[index(i, j)]; }
  const W& at(int i, int j) const { return values[index(i, j)]; }
  W* column(int j) { return values.data() + index(0, j); }
  const W* column(int j) const { return values.data() + index(0, j); }

 private:
  size_t index(int i, int j) const {
    return static_cast<size_t>(j) * static_cast<size_t>(rows) + static_cast<size_t>(i);
  }
};

// Returns an error if no LAPACK can be loaded.
Status load_lapack();
// While one exists, OpenBLAS uses one thread; the destructor restores the number.
class OneThreadOfBlas {
 public:
  OneThreadOfBlas();
  ~OneThreadOfBlas();
  OneThreadOfBlas(const OneThreadOfBlas&) = delete;
  OneThreadOfBlas& operator=(const OneThreadOfBlas&) = delete;

 private:
  int before_ = 0;
};

// Solves for a Hermitian matrix, by its upper triangle: eigenvalues ascending, eigenvectors in the columns.
template <typename W>
Status hermitian_eigen(Dense<W> a, std::vector<double>& values, Dense<W>& vectors);
// Solves A x = value B x with B positive definite; false if it is not.
template <typename W>
Status pencil_eigen(Dense<W> a, Dense<W> b, std::vector<double>& values, Dense<W>& vectors, bool& definite);

using Zdense = Dense<std::complex<double>>;
// Computes a = vectors triangle vectors*, where the triangle has the eigenvalues on its diagonal, best first.
Status schur(Zdense a, Order order, Zdense& triangle, Zdense& vectors);
// Computes eigenvectors of an upper triangle, of norm 1.
Status triangle_eigen(Zdense triangle, Zdense& vectors);
// Computes b = a^-1 b; false if a is singular.
template <typename W>
Status solve_dense(Dense<W> a, Dense<W>& b, bool& regular);

}  // namespace hiroba
