// The vectors of a search space and their products with A, which are this rank's parts, and the projection of A on
// them. The first `locked` vectors are pairs that have been found; the others are the space in which pairs are sought.
// All are orthonormal.
//
// Owner: one call of find_eigenpairs. Collective, but for rotate() and combine().
#pragma once

#include <cstdint>
#include <vector>

#include "eigen/lapack.hpp"

namespace hiroba {

template <typename T>
using Wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;

template <typename T>
class Basis {
 public:
  using W = Wide<T>;
  // The parts of the projection needed besides the triangle of V* A V: all of V* A V, and (A V)* A V.
  struct Needs {
    bool general, harmonic;
  };
  Basis(const Ranks& ranks, Operator<T>& a, int most, Needs needs);

  int size() const { return size_; }  // number of all vectors
  int locked() const { return locked_; }
  int active() const { return size_ - locked_; }
  void set_locked(int count) { locked_ = count; }
  void drop_active() { size_ = locked_; }
  const T* vector(int i) const { return v_[i]; }
  T* product(int i) const { return w_[i]; }
  int64_t products() const { return products_; }
  const Dense<W>& h() const { return h_; }  // V* A V
  const Dense<W>& m() const { return m_; }  // (A V)* A V, if needed

  // The candidate for the next vector, and its product.
  T* next() const { return v_[size_]; }
  T* next_product() const { return w_[size_]; }
  void fill_randomly(uint64_t seed);
  // Makes next() a vector of the basis: orthogonal to the others and of norm 1. `has_product`: next_product() is set.
  // squares: becomes |beside|^2, in the same reduction, or that of next() without `beside`. added: false if next() is
  // in the space of the others up to rounding errors.
  Status append(bool has_product, const T* beside, double& squares, bool& added);

  // Replaces the active vectors by k combinations of them, by the orthonormal columns of s.
  void rotate(const Dense<W>& s, int k);
  // out = A V s - value V s - Q c, where V are the active vectors, and Q the locked ones.
  void residual(const W* s, W value, const W* c, T* out) const;
  // out = V s, where V are the active vectors.
  void combine(const W* s, T* out) const;
  Status multiply_again(int first, int count);  // computes products of these vectors from A
  // Computes V* A V and the rest from the vectors, with one reduction; V* V, too.
  Status project_again(Dense<W>& gram);
  Status norm_of(const T* x, double& out) const;

 private:
  int64_t step() const { return v_[1] - v_[0]; }
  void gram(const T* rows, int count, std::initializer_list<const T*> right, T* out) const;
  Status reduce(std::vector<T>& values) const { return Vectors<T>{ranks_, n_}.add(values.data(), std::ssize(values)); }
  void subtract(const std::vector<W>& c, W scale);
  void extend(const std::vector<W>& c, const std::vector<T>& sums, double beta);

  Ranks ranks_;
  Operator<T>& a_;
  Needs needs_;
  int64_t n_;
  int size_ = 0, locked_ = 0, most_;
  Workspace<T> v_, w_;
  std::vector<double> errors_;  // estimates for the products w_, in units of the rounding errors of A's products
  Dense<W> h_, m_;
  int64_t products_ = 0;
};

}  // namespace hiroba
