#include "eigen/basis.hpp"

#include <cmath>

namespace hiroba {

namespace {

constexpr double most_error = 32;         // of a product, by the rounding errors of A's; it grows where digits cancel
constexpr int64_t strip_elements = 1024;  // of each vector, so that those of all stay in the second-level cache

template <typename W>
W conjugate(const W& x) {
  return conjugated(x, true);
}

template <typename T>
std::vector<T> narrow(const Wide<T>* values, int count, double sign) {
  std::vector<T> out;
  for (int i = 0; i < count; ++i) out.push_back(static_cast<T>(values[i] * sign));
  return out;
}

// Calls work(begin, length) for strips of n elements; it touches `vectors` vectors.
template <typename T, typename Work>
void in_long_strips(int64_t n, int64_t vectors, const Work& work) {
  in_strips<T>(n, vectors * static_cast<int64_t>(sizeof(T)), work, strip_elements);
}

}  // namespace

template <typename T>
Basis<T>::Basis(const Ranks& ranks, Operator<T>& a, int most, Needs needs)
    : ranks_(ranks),
      a_(a),
      needs_(needs),
      n_(a.rows().of(ranks.me())),
      most_(most),
      v_(n_, most + 1),
      w_(n_, most + 1),
      errors_(static_cast<size_t>(most) + 1, 1.0),
      h_(most, most),
      m_(needs.harmonic ? most : 0, needs.harmonic ? most : 0) {}

template <typename T>
void Basis<T>::fill_randomly(uint64_t seed) {
  T* const to = next();
  const int64_t first = a_.rows().begin(ranks_.me());
  for (int64_t i = 0; i < n_; ++i) to[i] = random_element<T>(seed, first + i);
}

// out[k count + i] = row i* right k, of this rank; the same bits for any number of threads.
template <typename T>
void Basis<T>::gram(const T* rows, int count, std::initializer_list<const T*> right, T* out) const {
  const SumBlocks blocks(n_);
  const auto rights = std::ssize(right), results = rights * count;
  std::fill_n(out, results, T(0));
  if (n_ == 0) return;
  std::vector<T> sums(static_cast<size_t>(blocks.count * results));
  in_parts(blocks.count, n_ * count * static_cast<int64_t>(sizeof(T)), 1, [&](int64_t begin, int64_t end) {
    std::vector<Products<Real<T>>> products(static_cast<size_t>(count));
    for (int64_t b = begin; b < end; ++b)
      for (int64_t i = blocks.begin(b); i < blocks.end(b); i += strip_elements) {
        const int64_t length = std::min(strip_elements, blocks.end(b) - i);
        T* sum = sums.data() + b * results;
        for (const T* const x : right) {
          hiroba::dots(count, length, rows + i, step(), x + i, products.data());
          for (const Products<Real<T>>& p : products) *sum++ += value_of<T>(p, true);
        }
      }
  });
  for (int64_t distance = 1; distance < blocks.count; distance *= 2)
    for (int64_t b = 0; b + distance < blocks.count; b += 2 * distance)
      for (int64_t i = 0; i < results; ++i) sums[b * results + i] += sums[(b + distance) * results + i];
  std::copy_n(sums.begin(), results, out);
}

// next() = (next() - V c) scale; the same for its product.
template <typename T>
void Basis<T>::subtract(const std::vector<W>& c, W scale) {
  const std::vector<T> minus = narrow<T>(c.data(), size_, -1);
  const auto factor = static_cast<T>(scale);
  in_long_strips<T>(n_, 2 * size_, [&](int64_t i, int64_t length) {
    for (const Workspace<T>* const rows : {&v_, &w_}) {
      T* const to = (*rows)[size_] + i;
      hiroba::axpys(size_, length, (*rows)[0] + i, step(), minus.data(), false, to);
      hiroba::scal(length, factor, to);
    }
  });
}

// Computes the rows and columns of the new vector, from sums with its earlier value: V* t, V* w; (A V)* t; (A V)* w.
template <typename T>
void Basis<T>::extend(const std::vector<W>& c, const std::vector<T>& sums, double beta) {
  const int j = size_;
  const auto sum = [&](int which, int i) {
    return static_cast<W>(sums[static_cast<size_t>(which) * static_cast<size_t>(j + 1) + static_cast<size_t>(i)]);
  };
  const int of_t = 2, of_w = needs_.general ? 3 : 2;
  const auto at = [&](int i) { return c[i]; };
  W corner = sum(1, j), squares = needs_.harmonic ? sum(of_w, j) : W(0);
  for (int i = 0; i < j; ++i) {
    W column = sum(1, i), row = needs_.general ? conjugate(sum(of_t, i)) : conjugate(sum(1, i));
    corner -= conjugate(at(i)) * column + row * at(i);
    W hc = 0, ch = 0, mc = 0;
    for (int k = 0; k < j; ++k) {
      hc += h_.at(i, k) * at(k), ch += conjugate(at(k)) * h_.at(k, i);
      if (needs_.harmonic) mc += m_.at(i, k) * at(k);
    }
    corner += conjugate(at(i)) * hc;
    h_.at(i, j) = (column - hc) / beta, h_.at(j, i) = (row - ch) / beta;
    if (!needs_.harmonic) continue;
    squares += conjugate(at(i)) * mc - conjugate(at(i)) * sum(of_w, i) - at(i) * conjugate(sum(of_w, i));
    m_.at(i, j) = (sum(of_w, i) - mc) / beta, m_.at(j, i) = conjugate(m_.at(i, j));
  }
  h_.at(j, j) = corner / (beta * beta);
  if (needs_.harmonic) m_.at(j, j) = squares / (beta * beta);
}

template <typename T>
Status Basis<T>::append(bool has_product, const T* beside, double& squares, bool& added) {
  added = false;
  squares = 0;
  double error = 1;  // of the new product
  for (int pass = 0; pass < 6; ++pass) {
    if (!has_product) {
      HIROBA_TRY(a_.apply(ranks_, next(), next_product()));
      ++products_, has_product = true, error = 1;
    }
    const int j = size_, rows = j + 1;
    const auto sums_of = static_cast<size_t>(rows);
    std::vector<T> sums(sums_of * (2 + (needs_.general ? 1 : 0) + (needs_.harmonic ? 1 : 0)) + 1);
    gram(v_[0], rows, {next(), next_product()}, sums.data());
    T* more = sums.data() + 2 * sums_of;
    if (needs_.general && needs_.harmonic) gram(w_[0], rows, {next(), next_product()}, more);
    else if (needs_.general) gram(w_[0], rows, {next()}, more);
    else if (needs_.harmonic) gram(w_[0], rows, {next_product()}, more);
    if (beside != nullptr && pass == 0) gram(beside, 1, {beside}, &sums.back());
    HIROBA_TRY(reduce(sums));
    const double whole = std::real(sums[j]);
    if (pass == 0) squares = beside == nullptr ? whole : std::real(sums.back());
    std::vector<W> c;
    double along = 0, errors = error * error * whole;
    for (int i = 0; i < j; ++i) {
      const double part = std::norm(c.emplace_back(static_cast<W>(sums[i])));
      along += part, errors += part * errors_[i] * errors_[i];
    }
    const double rest = whole - along;
    if (!std::isfinite(whole) || !std::isfinite(std::abs(sums[sums_of + static_cast<size_t>(j)])))
      return Status::error(
          "a vector, or its product with A, has numbers that are not finite (NaN, infinity or overflow)");
    if (whole == 0) return {};
    // Digits that cancel would make the new vector neither orthogonal nor of norm 1, and would multiply the errors of
    // the projections by sqrt(whole / rest) in each step: the pass is then repeated.
    const bool is_orthogonal = rest > 0.5 * whole;
    const double beta = std::sqrt(std::max(rest, whole * 1e-20));
    if (is_orthogonal) extend(c, sums, beta);
    subtract(c, W(1 / beta));
    error = std::sqrt(errors) / beta;
    if (error > most_error) {
      has_product = false;
    } else if (is_orthogonal) {
      errors_[j] = error;
      ++size_, added = true;
      return {};
    }
  }
  return {};
}

template <typename T>
void Basis<T>::rotate(const Dense<W>& s, int k) {
  const int j = active();
  std::vector<std::vector<T>> columns;
  for (int i = 0; i < k; ++i) columns.push_back(narrow<T>(s.column(i), j, 1));
  in_parts(n_, 2 * n_ * j * static_cast<int64_t>(sizeof(T)), strip_elements, [&](int64_t begin, int64_t end) {
    std::vector<T> made(static_cast<size_t>(k * strip_elements));
    for (int64_t i = begin; i < end; i += strip_elements) {
      const int64_t length = std::min(strip_elements, end - i);
      for (const Workspace<T>* const rows : {&v_, &w_}) {
        std::fill(made.begin(), made.end(), T(0));
        for (int c = 0; c < k; ++c)
          hiroba::axpys(j, length, (*rows)[locked_] + i, step(), columns[c].data(), false,
                        made.data() + c * strip_elements);
        for (int c = 0; c < k; ++c) std::copy_n(made.data() + c * strip_elements, length, (*rows)[locked_ + c] + i);
      }
    }
  });
  std::vector<double> errors;
  for (int c = 0; c < k; ++c) {
    double sum = 0;
    for (int x = 0; x < j; ++x) sum += std::norm(s.at(x, c)) * errors_[locked_ + x] * errors_[locked_ + x];
    errors.push_back(std::sqrt(sum));
  }
  std::copy(errors.begin(), errors.end(), errors_.begin() + locked_);
  // The projections: columns, then rows.
  for (Dense<W>* const matrix : {&h_, &m_}) {
    if (matrix->rows == 0) continue;
    std::vector<W> line(static_cast<size_t>(k));
    for (const bool by_rows : {false, true})
      for (int i = 0; i < (by_rows ? locked_ + k : size_); ++i) {
        const auto entry = [&](int x) -> W& {
          return by_rows ? matrix->at(locked_ + x, i) : matrix->at(i, locked_ + x);
        };
        for (int c = 0; c < k; ++c) {
          W sum = 0;
          for (int x = 0; x < j; ++x) sum += entry(x) * (by_rows ? conjugate(s.at(x, c)) : s.at(x, c));
          line[c] = sum;
        }
        for (int c = 0; c < k; ++c) entry(c) = line[c];
      }
  }
  size_ = locked_ + k;
}

template <typename T>
void Basis<T>::residual(const W* s, W value, const W* c, T* out) const {
  std::vector<W> of_v;
  for (int i = 0; i < locked_; ++i) of_v.push_back(c[i]);
  for (int i = 0; i < active(); ++i) of_v.push_back(value * s[i]);
  const std::vector<T> minus = narrow<T>(of_v.data(), size_, -1), plus = narrow<T>(s, active(), 1);
  in_long_strips<T>(n_, 2 * size_, [&](int64_t i, int64_t length) {
    std::fill_n(out + i, length, T(0));
    hiroba::axpys(active(), length, w_[locked_] + i, step(), plus.data(), false, out + i);
    hiroba::axpys(size_, length, v_[0] + i, step(), minus.data(), false, out + i);
  });
}

template <typename T>
void Basis<T>::combine(const W* s, T* out) const {
  const std::vector<T> plus = narrow<T>(s, active(), 1);
  in_long_strips<T>(n_, size_, [&](int64_t i, int64_t length) {
    std::fill_n(out + i, length, T(0));
    hiroba::axpys(active(), length, v_[locked_] + i, step(), plus.data(), false, out + i);
  });
}

template <typename T>
Status Basis<T>::multiply_again(int first, int count) {
  for (int i = first; i < first + count; ++i) {
    HIROBA_TRY(a_.apply(ranks_, v_[i], w_[i]));
    ++products_, errors_[i] = 1;
  }
  return {};
}

template <typename T>
Status Basis<T>::project_again(Dense<W>& gram_of_v) {
  const auto j = static_cast<size_t>(size_), square = j * j;
  std::vector<T> sums(square * (needs_.harmonic ? 3 : 2));
  for (size_t k = 0; k < j; ++k) {
    const auto column = static_cast<int>(k);
    gram(v_[0], size_, {w_[column]}, sums.data() + k * j);
    gram(v_[0], size_, {v_[column]}, sums.data() + square + k * j);
    if (needs_.harmonic) gram(w_[0], size_, {w_[column]}, sums.data() + 2 * square + k * j);
  }
  HIROBA_TRY(reduce(sums));
  gram_of_v = Dense<W>(size_, size_);
  for (size_t k = 0; k < j; ++k)
    for (size_t i = 0; i < j; ++i) {
      const auto row = static_cast<int>(i), column = static_cast<int>(k);
      h_.at(row, column) = static_cast<W>(sums[k * j + i]);
      gram_of_v.at(row, column) = static_cast<W>(sums[square + k * j + i]);
      if (needs_.harmonic) m_.at(row, column) = static_cast<W>(sums[2 * square + k * j + i]);
    }
  return {};
}

template <typename T>
Status Basis<T>::norm_of(const T* x, double& out) const {
  Real<T> norm = 0;
  HIROBA_TRY((Vectors<T>{ranks_, n_}.norm(x, norm)));
  out = static_cast<double>(norm);
  return {};
}

#define HIROBA_INSTANTIATE(T) template class Basis<T>;
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)

}  // namespace hiroba
