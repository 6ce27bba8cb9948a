#include "eigen/correction.hpp"

#include <cmath>

namespace hiroba {

namespace {

template <typename T>
Status project_out(const Vectors<T>& vectors, const std::vector<const T*>& q, T* y) {
  std::vector<T> along(q.size());
  HIROBA_TRY(vectors.dots(q, y, along.data()));
  for (size_t i = 0; i < q.size(); ++i) vectors.axpy(-along[i], q[i], y);
  return {};
}

// (I - Q Q*)(A - value) on vectors that are orthogonal to Q.
template <typename T>
class ProjectedOperator final : public Operator<T> {
 public:
  ProjectedOperator(Operator<T>& a, T value, const std::vector<const T*>& q, T* product)
      : a_(a), value_(value), q_(q), product_(product) {}
  const Rows& rows() const override { return a_.rows(); }
  std::string what() const override { return "correction equation"; }
  Status apply(const Ranks& ranks, const T* x, T* y) override {
    const Vectors<T> vectors = {ranks, a_.rows().of(ranks.me())};
    if (products_ < 0) {  // the first residual of a solver, whose x is 0
      products_ = 0;
      vectors.scal(T(0), y), vectors.scal(T(0), product_);
      return {};
    }
    ++products_;
    HIROBA_TRY(a_.apply(ranks, x, product_));
    vectors.copy(product_, y);
    vectors.axpy(-value_, x, y);
    return project_out(vectors, q_, y);
  }
  int64_t products() const { return std::max<int64_t>(products_, 0); }

 private:
  Operator<T>& a_;
  T value_;
  const std::vector<const T*>& q_;
  T* product_;  // of the last x
  int64_t products_ = -1;
};

// The preconditioner for it: M^-1 without its part in Q, so that its results are orthogonal to Q.
template <typename T>
class ProjectedPreconditioner final : public Operator<T> {
 public:
  using W = Wide<T>;
  ProjectedPreconditioner(Operator<T>& m, const std::vector<const T*>& q, const std::vector<std::vector<T>>& prepared,
                          const Dense<W>& gram)
      : m_(m), q_(q), prepared_(prepared), gram_(gram) {}
  const Rows& rows() const override { return m_.rows(); }
  std::string what() const override { return "preconditioner of the correction equation"; }
  Status apply(const Ranks& ranks, const T* x, T* y) override {
    const Vectors<T> vectors = {ranks, m_.rows().of(ranks.me())};
    HIROBA_TRY(m_.apply(ranks, x, y));
    std::vector<T> along(q_.size());
    HIROBA_TRY(vectors.dots(q_, y, along.data()));
    Dense<W> right(static_cast<int>(q_.size()), 1);
    for (size_t i = 0; i < q_.size(); ++i) right.values[i] = static_cast<W>(along[i]);
    bool regular = false;
    HIROBA_TRY(solve_dense(gram_, right, regular));
    if (!regular)
      return Status::error("the preconditioner of the correction equation is singular on the found vectors");
    for (size_t i = 0; i < q_.size(); ++i) vectors.axpy(static_cast<T>(-right.values[i]), prepared_[i].data(), y);
    return {};
  }

 private:
  Operator<T>& m_;
  const std::vector<const T*>& q_;
  const std::vector<std::vector<T>>& prepared_;
  const Dense<W>& gram_;
};

}  // namespace

template <typename T>
Correction<T>::Correction(const Ranks& ranks, Operator<T>& a, Operator<T>* preconditioner,
                          const SolverSettings& settings)
    : ranks_(ranks), a_(a), m_(preconditioner), settings_(settings), n_(a.rows().of(ranks.me())) {}

template <typename T>
Status Correction<T>::prepare(const Basis<T>& basis, const T* u) {
  q_.clear();
  for (int i = 0; i < basis.locked(); ++i) q_.push_back(basis.vector(i));
  q_.push_back(u);
  if (m_ == nullptr) return {};
  const auto count = q_.size();
  const size_t kept = std::min(kept_, count - 1);
  kept_ = count - 1;
  prepared_.resize(count);
  for (size_t i = kept; i < count; ++i) {
    prepared_[i].resize(static_cast<size_t>(n_));
    HIROBA_TRY(m_->apply(ranks_, q_[i], prepared_[i].data()));
  }
  std::vector<T> sums(count * count);
  for (size_t j = 0; j < count; ++j)
    for (size_t i = 0; i < count; ++i) sums[j * count + i] = own_dot(n_, q_[i], prepared_[j].data());
  HIROBA_TRY((Vectors<T>{ranks_, n_}.add(sums.data(), std::ssize(sums))));
  gram_ = Dense<W>(static_cast<int>(count), static_cast<int>(count));
  for (size_t i = 0; i < sums.size(); ++i) gram_.values[i] = static_cast<W>(sums[i]);
  return {};
}

template <typename T>
Status Correction<T>::solve(const Basis<T>& basis, const T* u, W value, const T* r, double relative, T* t, T* at) {
  const Vectors<T> vectors = {ranks_, n_};
  HIROBA_TRY(prepare(basis, u));
  std::vector<T> right(r, r + n_);
  vectors.scal(T(-1), right.data());
  HIROBA_TRY(project_out(vectors, q_, right.data()));
  ProjectedOperator<T> projected(a_, static_cast<T>(value), q_, at);
  std::unique_ptr<ProjectedPreconditioner<T>> preconditioner;
  if (m_ != nullptr) preconditioner = std::make_unique<ProjectedPreconditioner<T>>(*m_, q_, prepared_, gram_);
  projected.known_hermitian = true;  // as far as A is, which the search checks
  projected.exponent = 0;            // likewise
  SolverSettings settings = settings_;
  settings.relative = std::max(settings.relative, relative);
  vectors.scal(T(0), t);
  Outcome outcome;
  // The last product of `projected` is that of the solution, for the residual: so `at` is A t.
  HIROBA_TRY(hiroba::solve(ranks_, static_cast<Operator<T>&>(projected),
                           static_cast<Operator<T>*>(preconditioner.get()), right.data(), t, settings, outcome));
  products_ += projected.products();
  double size = 0;
  HIROBA_TRY(basis.norm_of(t, size));
  if (size > 0 && std::isfinite(size)) return {};
  return Status::error("the correction equation has no solution: %s", outcome.text.c_str());
}

#define HIROBA_INSTANTIATE(T) template class Correction<T>;
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
