// sparse.hpp: sparse matrices and solvers in C++, on top of sparse.h, which defines the collective and the blocking
// calls.
//
//   namespace sp = hiroba::sparse;
//   auto a = sp::linop<double>::from_rows(n, 3, [&](int64_t i, auto columns, auto values) { ...; return count; });
//   sp::vector<double> b(a), x(a);
//   for (int64_t i = b.first(); i < b.first() + b.count(); ++i) b[i] = 1;
//   auto m = sp::ilu(a);
//   sp::solution got = sp::solve(a, b, x, {.method = HIROBA_CG, .preconditioner = &m});
//
// Operators and vectors own their memory: their destructors are collective, too, and run before sms_shutdown. T is
// float, double, or std::complex of one. Errors end the job with a message that names the place of the call.
#pragma once

#include <algorithm>
#include <functional>
#include <string>

#include "collective.hpp"
#include "sms.h"
#include "sparse.h"

namespace hiroba::sparse {

template <typename T>
class linop {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::complex<float>> ||
                    std::is_same_v<T, std::complex<double>>,
                "operators have numbers of type float, double, or std::complex of one");

 public:
  using product = std::function<void(const T* x, T* y)>;
  static constexpr hiroba_type type = number_type<T>;

  static linop read(const std::string& path, int flags = 0, location where = location::current()) {
    hiroba::detail::stand_at(where);
    return linop((hiroba_linop_read)(path.c_str(), type, flags));
  }
  // The entries that this rank gives.
  static linop from_triplets(int64_t n, std::span<const int64_t> rows, std::span<const int64_t> columns,
                             std::span<const T> values, int flags = 0, location where = location::current()) {
    hiroba::detail::stand_at(where);
    if (rows.size() != columns.size() || rows.size() != values.size())
      (hiroba_fail)("hiroba::sparse::linop::from_triplets: rows, columns and values have different lengths");
    return linop((hiroba_linop_from_triplets)(type, n, static_cast<int64_t>(rows.size()), rows.data(), columns.data(),
                                              values.data(), flags));
  }
  // row(i, columns, values) fills two spans of `most` elements, and returns the number of entries.
  template <typename Row>
  static linop from_rows(int64_t n, int64_t most, const Row& row, int flags = 0, location where = location::current()) {
    struct context {
      const Row& row;
      size_t most;
    } all = {row, static_cast<size_t>(most)};
    hiroba::detail::stand_at(where);
    const auto call = [](int64_t i, int64_t* columns, void* values, void* self) -> int64_t {
      const context& c = *static_cast<context*>(self);
      return c.row(i, std::span<int64_t>(columns, c.most), std::span<T>(static_cast<T*>(values), c.most));
    };
    return linop((hiroba_linop_from_rows)(type, n, most, call, &all, flags));
  }
  static linop from_function(int64_t n, product apply, const linop* like = nullptr,
                             location where = location::current()) {
    auto kept = std::make_unique<product>(std::move(apply));
    hiroba::detail::stand_at(where);
    const auto call = [](const void* x, void* y, void* self) {
      (*static_cast<product*>(self))(static_cast<const T*>(x), static_cast<T*>(y));
    };
    linop out(
        (hiroba_linop_from_function)(type, n, call, kept.get(), like == nullptr ? HIROBA_NO_LINOP : like->handle()));
    out.function_ = std::move(kept);
    return out;
  }
  explicit linop(hiroba_linop handle) : handle_(handle) {}
  linop(linop&& other) noexcept
      : handle_(std::exchange(other.handle_, HIROBA_NO_LINOP)), function_(std::move(other.function_)) {}
  linop& operator=(linop&& other) noexcept {
    std::swap(handle_, other.handle_), std::swap(function_, other.function_);
    return *this;
  }
  ~linop() { (hiroba_linop_free)(&handle_); }

  hiroba_linop handle() const { return handle_; }
  hiroba_linop_facts facts() const { return (hiroba_linop_look)(handle_); }

 private:
  hiroba_linop handle_ = HIROBA_NO_LINOP;
  std::unique_ptr<product> function_;
};

// Elements in a shared array, distributed as the rows of an operator: initially zeros.
template <typename T>
class vector {
 public:
  explicit vector(const linop<T>& a, location where = location::current()) {
    hiroba::detail::stand_at(where);
    const hiroba_linop_facts facts = a.facts();
    size_ = facts.rows, first_ = facts.first, count_ = facts.count;
    data_ = static_cast<T*>((hiroba_linop_vector)(a.handle()));
  }
  vector(vector&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(other.size_), first_(other.first_), count_(other.count_) {}
  vector& operator=(vector&& other) noexcept {
    std::swap(data_, other.data_), std::swap(size_, other.size_);
    std::swap(first_, other.first_), std::swap(count_, other.count_);
    return *this;
  }
  ~vector() { sms_free(data_); }

  T* data() const { return data_; }
  int64_t size() const { return size_; }
  // The elements of this rank: count() elements from first() on.
  int64_t first() const { return first_; }
  int64_t count() const { return count_; }
  std::span<T> own() const { return {data_ + first_, static_cast<size_t>(count_)}; }
  T& operator[](int64_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  int64_t size_ = 0, first_ = 0, count_ = 0;
};

// y = A x
template <typename T>
void apply(const linop<T>& a, const vector<T>& x, vector<T>& y, location where = location::current()) {
  hiroba::detail::stand_at(where);
  (hiroba_linop_apply)(a.handle(), x.data(), y.data());
}

template <typename T>
linop<T> jacobi(const linop<T>& matrix, location where = location::current()) {
  hiroba::detail::stand_at(where);
  return linop<T>((hiroba_linop_jacobi)(matrix.handle()));
}
template <typename T>
linop<T> ilu(const linop<T>& matrix, double relax = 0, location where = location::current()) {
  hiroba::detail::stand_at(where);
  return linop<T>((hiroba_linop_ilu)(matrix.handle(), relax));
}
// Destroy the matrix after it.
template <typename T>
linop<T> chebyshev(const linop<T>& matrix, int degree, double low = 0, double high = 0,
                   location where = location::current()) {
  hiroba::detail::stand_at(where);
  return linop<T>((hiroba_linop_chebyshev)(matrix.handle(), degree, low, high));
}

// Settings as in hiroba_solver.
template <typename T>
struct solver {
  int method = HIROBA_CG;
  const linop<T>* preconditioner = nullptr;
  double relative = 0, absolute = 0;
  int64_t most = 0;
  int restart = 0;
  bool may_fail = false;
  std::function<bool(int64_t iteration, double residual)> progress = {};  // true on any rank stops
};
struct solution : hiroba_solution {
  std::vector<double> history;  // residual norms, at the start and after the first 10,000 iterations
  bool converged() const { return status == HIROBA_CONVERGED; }
};

template <typename T>
solution solve(const linop<T>& a, const vector<T>& b, vector<T>& x, const std::type_identity_t<solver<T>>& how = {},
               location where = location::current()) {
  struct context {
    const solver<T>& how;
    solution out;
  } all = {how, {}};
  hiroba_solver plain = {};
  plain.method = how.method, plain.relative = how.relative, plain.absolute = how.absolute;
  if (how.preconditioner != nullptr) plain.preconditioner = how.preconditioner->handle();
  plain.most = how.most, plain.restart = how.restart, plain.may_fail = how.may_fail ? 1 : 0;
  plain.context = &all;
  if (how.progress)
    plain.progress = [](int64_t iteration, double residual, void* self) {
      return static_cast<context*>(self)->how.progress(iteration, residual) ? 1 : 0;
    };
  constexpr int64_t most_kept = 10000;
  all.out.history.resize(static_cast<size_t>(how.most <= 0 ? most_kept : std::min(how.most, most_kept)) + 1);
  plain.history = all.out.history.data(), plain.room = static_cast<int64_t>(all.out.history.size());
  hiroba::detail::stand_at(where);
  static_cast<hiroba_solution&>(all.out) = (hiroba_solve)(a.handle(), b.data(), x.data(), &plain);
  all.out.history.resize(std::min(all.out.history.size(), static_cast<size_t>(all.out.iterations) + 1));
  return std::move(all.out);
}

}  // namespace hiroba::sparse
