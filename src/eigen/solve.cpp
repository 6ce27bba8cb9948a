// One call: the search space grows by a direction per step, shrinks at restarts, and yields the found pairs.
#include <algorithm>
#include <cmath>
#include <limits>

#include "eigen/correction.hpp"
#include "eigen/extraction.hpp"

namespace hiroba {

namespace {

using Z = std::complex<double>;

constexpr int first_vectors = 4;  // random; a single one would give only one vector of each multiple eigenvalue
constexpr int spare = 8;          // pairs beyond the wanted ones, found because a better one was missing
constexpr int most_checks = 6;
constexpr int64_t most_stuck = 60;                // steps at the limit of rounding errors
constexpr int probes = 20, probes_corrected = 4;  // steps after the last pair inside the spectrum
constexpr double near = 1e-3;                     // residual / |A| below which a pair approximates one eigenpair

template <typename T>
class Search {
 public:
  using W = Wide<T>;
  using Why = typename EigenOutcome<T>::Why;

  Search(const Ranks& ranks, Operator<T>& a, Operator<T>* preconditioner, const EigenSettings& settings, int exponent,
         EigenOutcome<T>& out)
      : ranks_(ranks),
        a_(a),
        m_(preconditioner),
        settings_(settings),
        exponent_(exponent),
        out_(out),
        rows_(a.rows().count()),
        space_(static_cast<int>(std::min<int64_t>(rows_, std::max(settings.space, settings.count + 4)))),
        kept_(std::max(1, std::min(std::max(settings.kept, settings.count + 2), space_ - 2))),
        basis_(ranks, a, static_cast<int>(std::min<int64_t>(rows_, settings.count + spare + space_)),
               {settings.general, settings.harmonic}),
        work_(a.rows().of(ranks.me()), 2) {
    if (settings.correction) correction_.emplace(ranks, a, preconditioner, *settings.correction);
  }

  Status run();

 private:
  bool is_whole() const { return basis_.size() == rows_; }
  bool is_found() const;
  bool has_bounds() const;
  double key(const Z& value) const { return Order{settings_.part, settings_.target}.key(value); }
  double worst() const;
  // Returns true if the space has a pair that is better than the worst wanted one among those found.
  bool is_missing() const { return basis_.active() > 0 && key(Z(best_.value)) < worst() - 2 * goal(); }
  Status begin_check();
  void judge_check(double value, double residual);
  Status begin();
  Status check_hermitian();
  Status extract_best();
  void restart();
  Status expand(double& residual);
  Status step();
  void lock();
  Status add_random();
  Status check_found(bool& good);
  bool is_over(double residual, bool whole);
  W shift(double residual) const;
  std::string explain() const;
  W of_locked(int i, const W* s) const;

  Ranks ranks_;
  Operator<T>& a_;
  Operator<T>* m_;
  const EigenSettings& settings_;
  int exponent_;  // A was divided by 2^exponent_
  EigenOutcome<T>& out_;
  int64_t rows_;
  int space_, kept_;
  Basis<T> basis_;
  Workspace<T> work_;  // the residual, and the vector that is improved
  std::optional<Correction<T>> correction_;
  Extraction<W> best_;
  std::vector<W> previous_;  // the coefficients of the last step
  std::vector<Z> locked_;    // the values of the locked pairs
  double largest_ = 0;       // absolute value of a Ritz value
  double tightened_ = 1;     // factor of the goal, after a check that failed
  double last_ = std::numeric_limits<double>::infinity();
  int since_found_ = 0;                                        // steps since the last pair
  double smallest_ = std::numeric_limits<double>::infinity();  // residual since the last pair
  int64_t stuck_ = 0;  // steps since the residual has fallen below the limit of rounding errors
  uint64_t randoms_ = 0;
  // The search seeks pairs; checks for missing ones by a new space; or is verified.
  enum class Stage { searches, checks, verified } search_ = Stage::searches;
  bool over_ = false, enough_ = false;

  double goal() const { return std::max(settings_.absolute, settings_.relative * largest_); }
  double unscaled(double value) const { return std::ldexp(value, exponent_); }
  double precision() const { return std::numeric_limits<Real<T>>::epsilon(); }
};

// Returns true if Ritz values are bounds of eigenvalues, so that a missing pair can be detected.
template <typename T>
bool Search<T>::has_bounds() const {
  return !settings_.general && (settings_.part == Part::smallest || settings_.part == Part::largest);
}

// Returns the worst key of the wanted pairs among those that have been found.
template <typename T>
double Search<T>::worst() const {
  std::vector<double> keys;
  for (const Z& value : locked_) keys.push_back(key(value));
  std::sort(keys.begin(), keys.end());
  return keys[static_cast<size_t>(settings_.count) - 1];
}

template <typename T>
bool Search<T>::is_found() const {
  if (basis_.locked() < settings_.count) return false;
  if (basis_.locked() == settings_.count + spare || basis_.locked() == rows_ || enough_) return true;
  if (has_bounds()) return search_ == Stage::verified;
  if (settings_.part != Part::closest || basis_.active() == 0) return true;
  // A value of a Hermitian A has an eigenvalue within its residual, so some more steps are made to see if that is
  // nearer to the target.
  const bool nearer = key(Z(best_.value)) + last_ < worst() - 2 * goal();
  return !nearer && since_found_ >= (correction_ ? probes_corrected : probes);
}

// All wanted pairs of an end of the spectrum have been found. The space of the search may lack another vector of a
// multiple eigenvalue: so a new one begins from random vectors.
template <typename T>
Status Search<T>::begin_check() {
  search_ = Stage::checks;
  basis_.drop_active();
  previous_.clear();
  last_ = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < std::min<int64_t>(first_vectors, rows_ - basis_.locked()); ++i) HIROBA_TRY(add_random());
  return extract_best();
}

// During the check a Ritz value that is better than a wanted pair proves that one is missing, and the search continues.
// The check ends when the residual of the best one is small against the distances between the pairs.
template <typename T>
void Search<T>::judge_check(double value, double residual) {
  double first = worst();
  for (const Z& other : locked_) first = std::min(first, key(other));
  const double distance = std::max({worst() - first, 0.1 * (value - worst()), near * near * largest_});
  if (value < worst() - 2 * goal()) search_ = Stage::searches;
  else if (residual <= std::max(goal(), 0.05 * distance)) search_ = Stage::verified;
}

template <typename T>
Status Search<T>::add_random() {
  bool added = false;
  double squares = 0;
  for (int i = 0; i < 3 && !added; ++i) {
    basis_.fill_randomly(settings_.seed * 1000003 + ++randoms_);
    HIROBA_TRY(basis_.append(false, nullptr, squares, added));
  }
  return {};
}

template <typename T>
Status Search<T>::begin() {
  const int count = static_cast<int>(std::min<int64_t>(first_vectors, rows_));
  for (int i = 0; i < count; ++i) HIROBA_TRY(add_random());
  return settings_.general ? Status() : check_hermitian();
}

template <typename T>
Status Search<T>::check_hermitian() {
  Dense<W> gram;
  HIROBA_TRY(basis_.project_again(gram));
  double off = 0, size = 0;
  for (int j = 0; j < basis_.size(); ++j)
    for (int i = 0; i <= j; ++i) {
      off = std::max(off, std::abs(basis_.h().at(i, j) - conjugated(basis_.h().at(j, i), true)));
      size = std::max(size, std::abs(basis_.h().at(i, j)));
    }
  if (off <= std::sqrt(precision()) * size) return {};
  return Status::error(
      "A is not Hermitian: for random x and y of norm 1, x* A y and (y* A x)* differ by %.3g; say that it is general, "
      "with complex numbers",
      unscaled(off));
}

template <typename T>
Status Search<T>::extract_best() {
  const int j = basis_.active(), from = basis_.locked();
  Dense<W> h(j, j), m(settings_.harmonic ? j : 0, settings_.harmonic ? j : 0);
  for (int c = 0; c < j; ++c)
    for (int i = 0; i < j; ++i) {
      h.at(i, c) = basis_.h().at(from + i, from + c);
      if (!settings_.harmonic) continue;
      m.at(i, c) = basis_.m().at(from + i, from + c);  // for A without its part in the found vectors
      for (int q = 0; q < from; ++q)
        m.at(i, c) -= conjugated(basis_.h().at(q, from + i), true) * basis_.h().at(q, from + c);
    }
  HIROBA_TRY(extract(ranks_, settings_, h, m, is_whole() || last_ < near * largest_, best_));
  largest_ = std::max(largest_, best_.largest);
  return {};
}

// Keeps the best vectors, and that of the last step (+k: Stathopoulos 2007).
template <typename T>
void Search<T>::restart() {
  const int j = basis_.active(), k = std::min(kept_, best_.s.columns);
  Dense<W> keep(j, k + (previous_.empty() ? 0 : 1));
  std::copy_n(best_.s.values.begin(), static_cast<size_t>(j) * static_cast<size_t>(k), keep.values.begin());
  int columns = k;
  if (!previous_.empty()) {
    W* const x = keep.column(k);
    std::copy(previous_.begin(), previous_.end(), x);
    double size = 0;
    for (int pass = 0; pass < 2; ++pass) {
      size = project_out(keep, k, x);
      for (int i = 0; i < j; ++i) x[i] /= size;
    }
    if (size > 0.5) ++columns;  // of the second pass: the first did not lose it
  }
  basis_.rotate(keep, columns);
  best_.s = Dense<W>(columns, columns);
  for (int i = 0; i < columns; ++i) best_.s.at(i, i) = 1;
  previous_.clear();
}

// Returns q* A V s of a locked vector q.
template <typename T>
typename Search<T>::W Search<T>::of_locked(int i, const W* s) const {
  W out = 0;
  for (int k = 0; k < basis_.active(); ++k) out += basis_.h().at(i, basis_.locked() + k) * s[k];
  return out;
}

// Returns the value in the correction equation. The best pair's value is far from an eigenvalue at first: at the ends
// of the spectrum it is moved by its uncertainty, to the side without eigenvalues; inside, the target replaces it.
template <typename T>
typename Search<T>::W Search<T>::shift(double residual) const {
  switch (settings_.part) {
    case Part::smallest: return best_.value - W(residual);
    case Part::largest: return best_.value + W(residual);
    case Part::largest_magnitude: return best_.value;
    case Part::closest: break;
  }
  if (residual < near * largest_) return best_.value;
  if constexpr (is_complex<W>) return settings_.target;
  else return settings_.target.real();
}

// Computes the residual of the best pair, and adds a direction for it.
template <typename T>
Status Search<T>::expand(double& residual) {
  const W* const s = best_.s.column(0);
  std::vector<W> along;
  double squares = 0, in_found = 0;
  for (int i = 0; i < basis_.locked(); ++i) along.push_back(of_locked(i, s)), in_found += std::norm(along.back());
  if (settings_.general) in_found = 0;  // A has a triangle on the found vectors, not a diagonal
  const bool plain = m_ == nullptr && !correction_;
  T* const r = plain ? basis_.next() : work_[0];
  basis_.residual(s, best_.value, along.data(), r);
  if (is_whole() || correction_) {  // the residual is needed before there is a direction
    HIROBA_TRY(basis_.norm_of(r, residual));
    residual = std::hypot(residual, std::sqrt(in_found));
    if (is_whole() || residual <= tightened_ * goal()) return {};
  }
  const bool corrects =
      correction_ && search_ != Stage::checks && (settings_.part == Part::closest || residual < 10 * near * largest_);
  if (corrects) {
    basis_.combine(s, work_[1]);
    HIROBA_TRY(correction_->solve(basis_, work_[1], shift(residual), r, goal() / 2 / residual, basis_.next(),
                                  basis_.next_product()));
  } else if (m_ != nullptr) {
    HIROBA_TRY(m_->apply(ranks_, r, basis_.next()));
  } else if (!plain) {
    (Vectors<T>{ranks_, a_.rows().of(ranks_.me())}).copy(r, basis_.next());
  }
  bool added = false;
  HIROBA_TRY(basis_.append(corrects, plain ? nullptr : r, squares, added));
  residual = std::sqrt(squares + in_found);
  if (!added && !is_whole()) HIROBA_TRY(add_random());
  return {};
}

// Locks the best pair as found; newer vectors stay.
template <typename T>
void Search<T>::lock() {
  const int j = basis_.active(), before = best_.s.rows, more = j - before;
  Dense<W> s(j, best_.s.columns + more);
  for (int c = 0; c < best_.s.columns; ++c) std::copy_n(best_.s.column(c), before, s.column(c));
  for (int i = 0; i < more; ++i) s.at(before + i, best_.s.columns + i) = 1;
  basis_.rotate(s, s.columns);
  basis_.set_locked(basis_.locked() + 1);
  locked_.emplace_back(best_.value);
  previous_.clear();
  last_ = std::numeric_limits<double>::infinity();
}

template <typename T>
bool Search<T>::is_over(double residual, bool whole) {
  last_ = residual;
  out_.products = basis_.products() + (correction_ ? correction_->products() : 0);
  out_.goal = goal();
  const EigenProgress now = {out_.steps,
                             out_.products,
                             basis_.locked(),
                             {unscaled(std::real(best_.value)), unscaled(std::imag(best_.value))},
                             unscaled(residual)};
  const bool stop = settings_.progress != nullptr && settings_.progress(now, settings_.context);
  // Rounding errors limit the residuals when they stay there, or grow from there.
  smallest_ = std::min(smallest_, residual);
  const double floor = 100 * precision() * largest_;
  if (residual < floor) ++stuck_;
  else if (smallest_ < floor && residual > 100 * floor) stuck_ = most_stuck + 1;
  if (stop) out_.why = Why::stopped;
  else if (out_.steps >= settings_.most) out_.why = Why::too_many;
  else if (stuck_ > most_stuck || (whole && residual > tightened_ * goal())) out_.why = Why::stagnated;
  else return false;
  return true;
}

template <typename T>
Status Search<T>::step() {
  ++out_.steps;
  if (basis_.active() >= space_ && !is_whole()) restart();
  const std::vector<W> now(best_.s.column(0), best_.s.column(0) + best_.s.rows);
  double residual = 0;
  const bool whole = is_whole();
  HIROBA_TRY(expand(residual));
  const bool found = residual <= tightened_ * goal();
  const bool over = is_over(residual, whole);
  // The last pair counts, even if none may follow it; inside the spectrum probing ends.
  const bool all = basis_.locked() + (found ? 1 : 0) >= settings_.count;
  enough_ = over && all && (settings_.part == Part::closest || search_ == Stage::checks);
  over_ = over && (out_.why == Why::stopped || !(enough_ || (found && all)));
  if (!over_) out_.why = Why::converged;
  ++since_found_;
  if (search_ == Stage::checks) judge_check(key(Z(best_.value)), residual);
  if (!found) {
    previous_ = now;
    previous_.resize(static_cast<size_t>(basis_.active()));
    return {};
  }
  lock();
  stuck_ = 0, since_found_ = 0;
  smallest_ = std::numeric_limits<double>::infinity();
  // Adds a new vector, which may contain another one of a multiple eigenvalue.
  if (basis_.locked() < settings_.count + spare && basis_.active() < space_ && !is_whole()) HIROBA_TRY(add_random());
  return {};
}

// Computes products again, eigenvectors from them, and their residuals. If one is too large, because rounding errors
// have grown or because eigenvectors of a general matrix are nearly parallel, the search continues with all vectors.
template <typename T>
Status Search<T>::check_found(bool& good) {
  const int found = basis_.locked(), count = std::min(found, settings_.count), all = basis_.size();
  good = false;
  if (found == 0) return {};
  HIROBA_TRY(basis_.multiply_again(0, found));
  Dense<W> gram, h(found, found), of_found(found, found), s;
  HIROBA_TRY(basis_.project_again(gram));
  for (int j = 0; j < found; ++j)
    for (int i = 0; i < found; ++i) h.at(i, j) = basis_.h().at(i, j), of_found.at(i, j) = gram.at(i, j);
  std::vector<Z> values;
  HIROBA_TRY(extract_found(ranks_, settings_, h, of_found, values, s));
  basis_.set_locked(0);
  if (correction_) correction_->reset();
  out_.vectors = std::make_unique<Workspace<T>>(a_.rows().of(ranks_.me()), std::max(count, 1));
  out_.values.assign(values.begin(), values.begin() + count);
  out_.residuals.clear();
  good = true;
  for (int k = 0; k < count; ++k) {
    std::vector<W> x(static_cast<size_t>(all));
    std::copy_n(s.column(k), found, x.begin());
    W value;
    if constexpr (is_complex<T>) value = values[k];
    else value = values[k].real();
    basis_.residual(x.data(), value, nullptr, work_[0]);
    basis_.combine(x.data(), (*out_.vectors)[k]);
    double residual = 0;
    HIROBA_TRY(basis_.norm_of(work_[0], residual));
    out_.residuals.push_back(residual);
    good = good && residual <= goal();
  }
  out_.products = basis_.products() + (correction_ ? correction_->products() : 0);
  return {};
}

template <typename T>
std::string Search<T>::explain() const {
  const char* advice = "the progress function has stopped it";
  if (out_.why == Why::stagnated)
    advice = "rounding errors allow no smaller residual; allow a larger one (absolute, or relative to |A|)";
  else if (out_.why == Why::too_many)
    advice =
        "allow more steps or a larger space, take a preconditioner (hiroba_linop_ilu), solve the correction equation, "
        "or allow a larger residual";
  return format(
      "%zu of %d eigenpairs found after %ld steps and %ld products with A; |A x - value x| of the next one, near "
      "%.6g, is %.3g, and %.3g was to be reached (|A| is about %.3g); %s",
      out_.values.size(), settings_.count, out_.steps, out_.products, unscaled(std::real(best_.value)), unscaled(last_),
      unscaled(goal()), unscaled(largest_), advice);
}

template <typename T>
Status Search<T>::run() {
  HIROBA_TRY(begin());
  for (int checks = 0;;) {
    if (basis_.active() == 0 && !is_whole()) HIROBA_TRY(add_random());
    if (basis_.active() > 0) HIROBA_TRY(extract_best());
    if (!over_ && !is_found()) {
      if (has_bounds() && basis_.locked() >= settings_.count && search_ == Stage::searches && !is_missing())
        HIROBA_TRY(begin_check());
      HIROBA_TRY(step());
      continue;
    }
    const double reached = last_;
    bool good = false;
    HIROBA_TRY(check_found(good));
    last_ = reached;
    if (over_) break;
    if (good) return {};
    if (++checks == most_checks) {
      out_.why = Why::stagnated;
      last_ = *std::max_element(out_.residuals.begin(), out_.residuals.end());
      break;
    }
    tightened_ *= 0.3;
    locked_.clear(), previous_.clear();
  }
  out_.text = explain();
  return {};
}

}  // namespace

template <typename T>
Status find_eigenpairs(const Ranks& ranks, Operator<T>& a, Operator<T>* preconditioner, const EigenSettings& settings,
                       EigenOutcome<T>& out) {
  out = {};
  const int64_t rows = a.rows().count();
  if (settings.count < 1 || settings.count > rows)
    return Status::error("%d eigenpairs of a matrix of %ld rows; it has at least 1 and at most %ld", settings.count,
                         rows, rows);
  if (settings.general && !is_complex<T>)
    return Status::error(
        "a general matrix of real numbers may have complex eigenvalues; make it of complex numbers, or say that it is "
        "Hermitian");
  HIROBA_TRY(load_lapack());
  const OneThreadOfBlas one;
  int exponent = 0;
  HIROBA_TRY(find_exponent(ranks, a, exponent));
  if (exponent == 0) return Search<T>(ranks, a, preconditioner, settings, 0, out).run();
  ScaledOperator<T> scaled(a, exponent);
  std::optional<ScaledOperator<T>> m;
  HIROBA_TRY(scale(ranks, preconditioner, m));
  const auto times = [](Z value, int power) {
    return Z(std::ldexp(value.real(), power), std::ldexp(value.imag(), power));
  };
  EigenSettings inner = settings;
  inner.absolute = std::ldexp(settings.absolute, -exponent), inner.target = times(settings.target, -exponent);
  HIROBA_TRY((Search<T>(ranks, scaled, m ? &*m : nullptr, inner, exponent, out).run()));
  for (Z& value : out.values) value = times(value, exponent);
  for (double& residual : out.residuals) residual = std::ldexp(residual, exponent);
  out.goal = std::ldexp(out.goal, exponent);
  return {};
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be in parentheses.
#define HIROBA_INSTANTIATE(T) \
  template Status find_eigenpairs(const Ranks&, Operator<T>&, Operator<T>*, const EigenSettings&, EigenOutcome<T>&);
// NOLINTEND(bugprone-macro-parentheses)
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
