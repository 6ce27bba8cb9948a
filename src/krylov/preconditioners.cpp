// Preconditioners of matrices: the diagonal, incomplete factors of each rank's block, Chebyshev polynomials.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "krylov/krylov.hpp"

namespace hiroba {

namespace {

template <typename T>
Real<T> abs_of(const T& x) {
  return std::abs(x);
}

// Computes 1 / a[i][i] of this rank's rows.
template <typename T>
Status inverse_diagonal(const Ranks& ranks, SparseMatrix<T>& a, std::vector<T>& out) {
  const LocalRows<T> rows = a.own_block();
  out.assign(static_cast<size_t>(a.rows().of(ranks.me())), T(0));
  for (int64_t i = 0; i < rows.rows(); ++i)
    for (size_t k = rows.begin(i); k < rows.end(i); ++k)
      if (const int32_t to = rows.to[i]; rows.column[k] == to) out[to] = rows.value[k];
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == T(0))
      return Status::error(
          "row %ld has 0 on the diagonal, so the preconditioner is singular; take none, or number the unknowns so that "
          "the diagonal has none",
          a.rows().begin(ranks.me()) + static_cast<int64_t>(i));
    out[i] = T(1) / out[i];
  }
  return {};
}

template <typename T>
class Jacobi final : public Operator<T> {
 public:
  Jacobi(const Rows& rows, std::vector<T> inverse) : rows_(rows), inverse_(std::move(inverse)) {}
  const Rows& rows() const override { return rows_; }
  std::string what() const override { return "Jacobi preconditioner"; }
  const T* diagonal() const override { return inverse_.data(); }
  Status apply(const Ranks&, const T* x, T* y) override {
    const auto n = std::ssize(inverse_);
    in_parts(n, 3 * n * static_cast<int64_t>(sizeof(T)), line_elements<T>, [&](int64_t begin, int64_t end) {
      sparse_kernels<T>().multiply(end - begin, inverse_.data() + begin, x + begin, y + begin);
    });
    return {};
  }

 private:
  Rows rows_;
  std::vector<T> inverse_;
};

// L U ~ A in the places of A's entries: L has ones on its diagonal. `relax` of the dropped fill-in is added to the
// diagonal (Axelsson, Lindskog, On the eigenvalue distribution of a class of preconditioning methods, 1986); of complex
// numbers the real part, so that the factors of a Hermitian matrix stay Hermitian. Entries in columns of other ranks
// are also dropped; they count for `of_others`, since with all of them a block without a boundary would be singular.
// One thread of each rank solves with them.
template <typename T>
class BlockIlu final : public Operator<T> {
 public:
  BlockIlu(const Rows& rows, LocalRows<T> entries) : rows_(rows), f_(std::move(entries)) {}
  const Rows& rows() const override { return rows_; }
  std::string what() const override { return "block ILU preconditioner"; }

  // to_diagonal: added to the diagonal, in addition to `relax` of the fill-in.
  Status factor(int64_t first_row, const std::vector<Real<T>>& to_diagonal, Real<T> relax) {
    const auto n = static_cast<size_t>(f_.rows());
    std::vector<int64_t> place(n, -1);  // of a column in the current row
    for (size_t i = 0; i < n; ++i) {
      const int64_t begin = f_.start[i], end = f_.start[i + 1];
      int64_t diagonal = -1;
      Real<T> largest = 0;
      for (int64_t k = begin; k < end; ++k) {
        place[column(k)] = k;
        if (column(k) == i) diagonal = k;
        largest = std::max(largest, abs_of(value(k)));
      }
      Real<T> left_out = 0;
      for (int64_t k = begin; k < end && column(k) < i; ++k) left_out += eliminate(k, place);
      if (diagonal >= 0) value(diagonal) += relax * left_out + to_diagonal[i];
      for (int64_t k = begin; k < end; ++k) place[column(k)] = -1;
      constexpr Real<T> rounding = 16 * std::numeric_limits<Real<T>>::epsilon();
      if (diagonal < 0 || !(abs_of(value(diagonal)) > rounding * largest))
        return Status::error(
            "incomplete factors: pivot %s of row %ld, so the preconditioner is singular; take Jacobi, or number the "
            "unknowns otherwise",
            diagonal < 0 ? "is missing" : "is 0", first_row + static_cast<int64_t>(i));
      diagonal_.push_back(diagonal);
      inverse_.push_back(T(1) / value(diagonal));
    }
    return {};
  }
  Status apply(const Ranks&, const T* x, T* y) override {
    const int64_t n = f_.rows();
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] - part(f_.start[i], diagonal_[i], y);
    for (int64_t i = n; i-- > 0;) {
      const auto row = static_cast<size_t>(i);
      y[i] = times(inverse_[row], y[i] - part(diagonal_[row] + 1, f_.start[row + 1], y));
    }
    return {};
  }

 private:
  size_t column(int64_t k) const { return static_cast<size_t>(f_.column[k]); }
  T& value(int64_t k) { return f_.value[k]; }
  // Computes entry k of L, and subtracts its row of U from the current row. Returns the dropped fill-in.
  Real<T> eliminate(int64_t k, const std::vector<int64_t>& place) {
    const size_t above = column(k);
    value(k) = times(value(k), inverse_[above]);
    Real<T> left_out = 0;
    for (int64_t u = diagonal_[above] + 1; u < f_.start[above + 1]; ++u) {
      const T fill = -times(value(k), value(u));
      if (const int64_t at = place[column(u)]; at >= 0) value(at) += fill;
      else left_out += std::real(fill);
    }
    return left_out;
  }
  T part(int64_t begin, int64_t end, const T* y) const {
    T sum = 0;
    for (auto k = static_cast<size_t>(begin); k < static_cast<size_t>(end); ++k)
      sum += times(f_.value[k], y[f_.column[k]]);
    return sum;
  }

  Rows rows_;
  LocalRows<T> f_;  // L below the diagonal, U from it on
  std::vector<int64_t> diagonal_;
  std::vector<T> inverse_;
};

template <typename T>
class Chebyshev final : public Operator<T> {
 public:
  using R = Real<T>;
  Chebyshev(SparseMatrix<T>& a, std::vector<T> inverse, int degree, double low, double high)
      : a_(a), inverse_(std::move(inverse)), degree_(degree), low_(low), high_(high) {}
  const Rows& rows() const override { return a_.rows(); }
  std::string what() const override { return "Chebyshev preconditioner"; }

  Status apply(const Ranks& ranks, const T* x, T* y) override {
    const auto n = std::ssize(inverse_);
    if (work_ == nullptr) work_ = std::make_unique<Workspace<T>>(n, 2);
    T *const d = (*work_)[0], *const product = (*work_)[1];
    const double middle = (high_ + low_) / 2, half = (high_ - low_) / 2, sigma = middle / half;
    double rho = 1 / sigma;
    // d: the change of y. D^-1 (x - A y) is computed in strips at its use.
    const auto turn = [&](double of_d, double of_residual, bool first) {
      in_strips<T>(n, 5 * sizeof(T), [&](int64_t i, int64_t count) {
        T residual[strip<T>];
        std::copy_n(x + i, count, residual);
        if (!first) hiroba::axpy(count, T(-1), product + i, residual);
        sparse_kernels<T>().multiply(count, inverse_.data() + i, residual, residual);
        if (first) std::fill_n(d + i, count, T(0)), std::fill_n(y + i, count, T(0));
        else hiroba::scal(count, T(static_cast<R>(of_d)), d + i);
        hiroba::axpy(count, T(static_cast<R>(of_residual)), residual, d + i);
        hiroba::axpy(count, T(1), d + i, y + i);
      });
    };
    turn(0, 1 / middle, true);
    for (int step = 1; step < degree_; ++step) {
      HIROBA_TRY(a_.apply(ranks, y, product));
      const double next = 1 / (2 * sigma - rho);
      turn(next * rho, 2 * next / half, false);
      rho = next;
    }
    return {};
  }

 private:
  SparseMatrix<T>& a_;
  std::vector<T> inverse_;
  int degree_;
  double low_, high_;
  std::unique_ptr<Workspace<T>> work_;
};

// Returns the largest eigenvalue of the symmetric tridiagonal matrix, by bisection: the number of eigenvalues below a
// value is the number of negative pivots.
double largest_eigenvalue(const std::vector<double>& diagonal, const std::vector<double>& beside) {
  double low = 0, high = 0;
  for (size_t i = 0; i < diagonal.size(); ++i) {
    const double left = i > 0 ? std::abs(beside[i - 1]) : 0, right = i + 1 < diagonal.size() ? std::abs(beside[i]) : 0;
    high = std::max(high, diagonal[i] + left + right);
  }
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    bool all_below = true;
    double pivot = 1;
    for (size_t i = 0; i < diagonal.size() && all_below; ++i) {
      pivot = diagonal[i] - middle - (i > 0 ? beside[i - 1] * beside[i - 1] / pivot : 0);
      all_below = pivot < 0;
    }
    (all_below ? high : low) = middle;
  }
  return high;
}

// Estimates the largest eigenvalue of D^-1 A by some steps of Lanczos in the inner product of D, from a vector that no
// symmetry of the grid makes orthogonal to the eigenvector.
template <typename T>
Status estimate_largest(const Ranks& ranks, SparseMatrix<T>& a, const std::vector<T>& inverse, double& out) {
  constexpr int steps = 12;
  const auto n = std::ssize(inverse);
  const Workspace<T> work(n, 4);  // z = D^-1 r
  T *before = work[0], *r = work[1], *const z = work[2], *const v = work[3];
  const Vectors<T> vectors = {ranks, n};
  const auto scaled = [&] { sparse_kernels<T>().multiply(n, inverse.data(), r, z); };
  const int64_t first = a.rows().begin(ranks.me());
  for (int64_t i = 0; i < n; ++i) r[i] = T(random_element<Real<T>>(1, first + i));
  std::vector<double> diagonal, beside;
  for (int k = 0; k < steps; ++k) {
    scaled();
    T product;
    HIROBA_TRY(vectors.dot(r, z, product));
    const double next = std::sqrt(std::max(0.0, static_cast<double>(std::real(product))));
    if (!(next > 1e-30)) break;
    if (k > 0) beside.push_back(next);
    vectors.copy(z, v);
    vectors.scal(T(static_cast<Real<T>>(1 / next)), v);
    vectors.scal(T(static_cast<Real<T>>(1 / next)), r);  // D v
    HIROBA_TRY(a.apply(ranks, v, z));
    HIROBA_TRY(vectors.dot(v, z, product));
    diagonal.push_back(static_cast<double>(std::real(product)));
    vectors.axpy(T(static_cast<Real<T>>(-diagonal.back())), r, z);
    if (k > 0) vectors.axpy(T(static_cast<Real<T>>(-next)), before, z);
    std::swap(before, r);
    vectors.copy(z, r);
  }
  out = diagonal.empty() ? 0 : largest_eigenvalue(diagonal, beside);
  return {};
}

}  // namespace

template <typename T>
Status make_jacobi(const Ranks& ranks, SparseMatrix<T>& a, std::unique_ptr<Operator<T>>& out) {
  std::vector<T> inverse;
  HIROBA_TRY(inverse_diagonal(ranks, a, inverse));
  out = std::make_unique<Jacobi<T>>(a.rows(), std::move(inverse));
  return {};
}

template <typename T>
Status make_block_ilu(const Ranks& ranks, SparseMatrix<T>& a, double relax, std::unique_ptr<Operator<T>>& out) {
  if (!(relax >= 0 && relax <= 1))
    return Status::error("relax is %g; it is the part of the fill-in that is added to the diagonal, 0 to 1", relax);
  const int64_t settings[] = {std::bit_cast<int64_t>(relax)};
  HIROBA_TRY(ranks.agree(settings, "parts of the fill-in for the diagonal"));
  constexpr double of_others = 0.8;
  LocalRows<T> block = a.own_block();
  const LocalRows<T> others = a.others_block();
  std::vector<Real<T>> to_diagonal(static_cast<size_t>(block.rows()));
  for (int64_t i = 0; i < others.rows(); ++i)
    for (size_t k = others.begin(i); k < others.end(i); ++k)
      to_diagonal[others.to[i]] += static_cast<Real<T>>(relax * of_others) * std::real(others.value[k]);
  auto made = std::make_unique<BlockIlu<T>>(a.rows(), std::move(block));
  HIROBA_TRY(made->factor(a.rows().begin(ranks.me()), to_diagonal, static_cast<Real<T>>(relax)));
  out = std::move(made);
  return {};
}

template <typename T>
Status make_chebyshev(const Ranks& ranks, SparseMatrix<T>& a, int degree, double low, double high,
                      std::unique_ptr<Operator<T>>& out) {
  constexpr double span = 30, margin = 1.1;  // of the estimate, which is a lower bound
  const int64_t settings[] = {degree, std::bit_cast<int64_t>(low), std::bit_cast<int64_t>(high)};
  HIROBA_TRY(ranks.agree(settings, "degrees or bounds"));
  std::vector<T> inverse;
  HIROBA_TRY(inverse_diagonal(ranks, a, inverse));
  if (degree < 1) return Status::error("the degree is %d; it must be at least 1", degree);
  if (high == 0) {
    HIROBA_TRY(estimate_largest(ranks, a, inverse, high));
    high *= margin;
  }
  if (low == 0) low = high / span;
  if (!(low > 0 && high > low))
    return Status::error(
        "eigenvalues between %.3g and %.3g; a Chebyshev polynomial needs 0 < low < high, so a positive definite matrix",
        low, high);
  out = std::make_unique<Chebyshev<T>>(a, std::move(inverse), degree, low, high);
  return {};
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be in parentheses.
#define HIROBA_INSTANTIATE(T)                                                                               \
  template Status make_jacobi<T>(const Ranks&, SparseMatrix<T>&, std::unique_ptr<Operator<T>>&);            \
  template Status make_block_ilu<T>(const Ranks&, SparseMatrix<T>&, double, std::unique_ptr<Operator<T>>&); \
  template Status make_chebyshev<T>(const Ranks&, SparseMatrix<T>&, int, double, double, std::unique_ptr<Operator<T>>&);
// NOLINTEND(bugprone-macro-parentheses)
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
