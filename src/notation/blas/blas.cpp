// The entry points of blas.h: arguments become operands of the linear floor; sums over the ranks are reduced now, or
// started.
#define HIROBA_NO_PLACES
#include "blas.h"

#include <complex>
#include <utility>

#include "linear/linear.hpp"
#include "notation/collective/collective_process.hpp"

namespace hiroba {

namespace {

using C = std::complex<float>;
using Z = std::complex<double>;
template <typename T>
using R = Real<T>;

class LinearModel final : public Model {
 public:
  Linear linear;

  Status start(Memory& memory, const Options& options) override {
    linear.start(memory, options.flag("reproducible"));
    return {};
  }
  Status before_barrier() override {
    linear.at_barrier();
    return {};
  }
};

// A call: its name, and its request if it is only started.
struct Begun : CheckedCall {
  hiroba_request* request;

  Begun(const char* name, hiroba_request* out = nullptr) : CheckedCall(name), request(out) {
    end_work(name);
    if (request != nullptr) *request = HIROBA_NO_REQUEST;
  }
  Linear& linear() const { return used_instance<LinearModel>().linear; }
  // Returns false if there is nothing to do.
  bool length(const char* which, int64_t n) const {
    if (n < 0) fail(format("%s is %ld; it must not be negative", which, n));
    return n > 0;
  }
  template <typename T>
  SharedVector vector(const char* which, int64_t n, const void* x, int64_t inc) const {
    SharedVector out;
    require(find_vector(process_memory(name()), which, x, n, inc, sizeof(T), out));
    return out;
  }
};

template <typename T>
Combine sum_of() {
  Combine out;
  require_at(Combine::make(type_for<R<T>>(), Op::add, out), prefix());
  return out;
}

// Adds the ranks' values, and completes the call.
template <typename T>
void reduce(const Begun& begun, int64_t n, Pending<T> pending) {
  if (!pending.finish) return;
  auto& operations = teams_of(begun.name());
  Members& all = operations.all();
  if (all.team.count == 1 || pending.values.empty()) return pending.finish(pending.values.data());
  CallName name(begun.name());
  name << "(n = " << n << ")";
  const auto plan = [&](R<T>* values, size_t count) {
    return plan_allreduce(operations.member_of(all), nullptr, values, count, sum_of<T>());
  };
  if (begun.request == nullptr) {
    perform(begun.name(), {&all, name, plan(pending.values.data(), pending.values.size()), {}});
    return pending.finish(pending.values.data());
  }
  const auto kept = std::make_shared<Pending<T>>(std::move(pending));
  *begun.request = start(begun.name(), {&all, name, plan(kept->values.data(), kept->values.size()),
                                        [kept] { kept->finish(kept->values.data()); }});
}

template <typename T>
void axpy(const Begun& begun, int64_t n, T alpha, const void* x, int64_t incx, void* y, int64_t incy) {
  if (!begun.length("n", n)) return;
  const SharedVector of_x = begun.vector<T>("x", n, x, incx), of_y = begun.vector<T>("y", n, y, incy);
  begun.require(begun.linear().axpy(begun.call(), alpha, of_x, of_y));
}

template <typename T>
void copy(const Begun& begun, int64_t n, const void* x, int64_t incx, void* y, int64_t incy) {
  if (!begun.length("n", n)) return;
  const SharedVector of_x = begun.vector<T>("x", n, x, incx), of_y = begun.vector<T>("y", n, y, incy);
  begun.require(begun.linear().copy<T>(begun.call(), of_x, of_y));
}

template <typename T>
void scal(const Begun& begun, int64_t n, T alpha, void* x, int64_t incx) {
  if (!begun.length("n", n)) return;
  begun.require(begun.linear().scal(begun.call(), alpha, begun.vector<T>("x", n, x, incx)));
}

template <typename T>
void dot(const Begun& begun, bool conjugate, int64_t n, const void* x, int64_t incx, const void* y, int64_t incy,
         void* result) {
  T* const out = static_cast<T*>(result);
  *out = T(0);
  if (!begun.length("n", n)) return;
  Pending<T> pending;
  const SharedVector of_x = begun.vector<T>("x", n, x, incx), of_y = begun.vector<T>("y", n, y, incy);
  begun.require(begun.linear().dot(begun.call(), conjugate, of_x, of_y, out, pending));
  reduce(begun, n, std::move(pending));
}

// Computes nrm2 and asum: a real number of one vector.
template <typename T>
using Norm = Status (Linear::*)(const Call&, const SharedVector&, R<T>*, Pending<T>&);

template <typename T>
void norm(const Begun& begun, Norm<T> of, int64_t n, const void* x, int64_t incx, R<T>* result) {
  *result = 0;
  if (!begun.length("n", n)) return;
  Pending<T> pending;
  begun.require((begun.linear().*of)(begun.call(), begun.vector<T>("x", n, x, incx), result, pending));
  reduce(begun, n, std::move(pending));
}

// Returns true if the lines of the matrix are its rows.
bool by_rows(const Begun& begun, int order) {
  if (order != HIROBA_ROW_MAJOR && order != HIROBA_COL_MAJOR)
    begun.fail(format("order is %d; it is HIROBA_ROW_MAJOR or HIROBA_COL_MAJOR", order));
  return order == HIROBA_ROW_MAJOR;
}

template <typename T>
SharedMatrix matrix(const Begun& begun, bool rows, int64_t m, int64_t n, const void* a, int64_t lda) {
  SharedMatrix out;
  begun.require(find_matrix(process_memory(begun.name()), "A", a, rows ? m : n, rows ? n : m, lda, sizeof(T), out));
  return out;
}

template <typename T>
void gemv(const Begun& begun, int order, int trans, int64_t m, int64_t n, T alpha, const void* a, int64_t lda,
          const void* x, int64_t incx, T beta, void* y, int64_t incy) {
  const bool rows = by_rows(begun, order);
  if (trans != HIROBA_NO_TRANS && trans != HIROBA_TRANS && trans != HIROBA_CONJ_TRANS)
    begun.fail(format("trans is %d; it is HIROBA_NO_TRANS, HIROBA_TRANS or HIROBA_CONJ_TRANS", trans));
  const bool some_rows = begun.length("m", m), some_columns = begun.length("n", n);
  if (!some_rows || !some_columns) return;
  const bool transposed = trans != HIROBA_NO_TRANS;
  const SharedVector of_x = begun.vector<T>("x", transposed ? m : n, x, incx);
  const SharedVector of_y = begun.vector<T>("y", transposed ? n : m, y, incy);
  Pending<T> pending;
  begun.require(begun.linear().gemv(begun.call(), {transposed == rows, trans == HIROBA_CONJ_TRANS}, alpha,
                                    matrix<T>(begun, rows, m, n, a, lda), of_x, beta, of_y, pending));
  reduce(begun, of_y.length, std::move(pending));
}

template <typename T>
void ger(const Begun& begun, bool conjugate, int order, int64_t m, int64_t n, T alpha, const void* x, int64_t incx,
         const void* y, int64_t incy, void* a, int64_t lda) {
  const bool rows = by_rows(begun, order);
  const bool some_rows = begun.length("m", m), some_columns = begun.length("n", n);
  if (!some_rows || !some_columns) return;
  const SharedVector of_x = begun.vector<T>("x", m, x, incx), of_y = begun.vector<T>("y", n, y, incy);
  const SharedMatrix of_a = matrix<T>(begun, rows, m, n, a, lda);
  begun.require(rows ? begun.linear().ger(begun.call(), alpha, of_x, false, of_y, conjugate, of_a)
                     : begun.linear().ger(begun.call(), alpha, of_y, conjugate, of_x, false, of_a));
}

template <typename T>
T at(const void* scalar) {
  return *static_cast<const T*>(scalar);
}

}  // namespace

Model& linear_model() { return instance<LinearModel>(); }

// NOLINTBEGIN(bugprone-macro-parentheses): types and lists of parameters cannot be in parentheses.
// Defines the two forms of a call. `parameters` are in parentheses, and so are the arguments of the function above.
#define UNPACK(...) __VA_ARGS__
#define CALL(name, parameters, function, arguments)                                                           \
  HIROBA_EXPORT void hiroba_##name(UNPACK parameters) { function(Begun("hiroba_" #name), UNPACK arguments); } \
  HIROBA_EXPORT void hiroba_##name##_start(UNPACK parameters, hiroba_request* request) {                      \
    function(Begun("hiroba_" #name "_start", request), UNPACK arguments);                                     \
  }
#define SUM(type, name, parameters, function, arguments)                                               \
  HIROBA_EXPORT type hiroba_##name(UNPACK parameters) {                                                \
    type value = 0;                                                                                    \
    type* const result = &value;                                                                       \
    function(Begun("hiroba_" #name), UNPACK arguments);                                                \
    return value;                                                                                      \
  }                                                                                                    \
  HIROBA_EXPORT void hiroba_##name##_start(UNPACK parameters, type* result, hiroba_request* request) { \
    function(Begun("hiroba_" #name "_start", request), UNPACK arguments);                              \
  }

// For each type: the letter; the type of numbers; `P`: the pointers' target; `S`: the type of a scalar, `V(s)`: its
// value.
#define VECTORS(t, T, P, S, V)                                                                                  \
  CALL(t##axpy, (int64_t n, S alpha, const P* x, int64_t incx, P* y, int64_t incy), axpy<T>,                    \
       (n, V(alpha), x, incx, y, incy))                                                                         \
  CALL(t##copy, (int64_t n, const P* x, int64_t incx, P* y, int64_t incy), copy<T>, (n, x, incx, y, incy))      \
  CALL(t##scal, (int64_t n, S alpha, P* x, int64_t incx), scal<T>, (n, V(alpha), x, incx))                      \
  CALL(t##gemv,                                                                                                 \
       (int order, int trans, int64_t m, int64_t n, S alpha, const P* a, int64_t lda, const P* x, int64_t incx, \
        S beta, P* y, int64_t incy),                                                                            \
       gemv<T>, (order, trans, m, n, V(alpha), a, lda, x, incx, V(beta), y, incy))
#define NORMS(t, T, P)                                                                                       \
  SUM(R<T>, t##nrm2, (int64_t n, const P* x, int64_t incx), norm<T>, (&Linear::nrm2<T>, n, x, incx, result)) \
  SUM(R<T>, t##asum, (int64_t n, const P* x, int64_t incx), norm<T>, (&Linear::asum<T>, n, x, incx, result))
#define GER(name, T, P, S, V, conjugate)                                                                    \
  CALL(name,                                                                                                \
       (int order, int64_t m, int64_t n, S alpha, const P* x, int64_t incx, const P* y, int64_t incy, P* a, \
        int64_t lda),                                                                                       \
       ger<T>, (conjugate, order, m, n, V(alpha), x, incx, y, incy, a, lda))
#define REAL(t, T)                                                                        \
  VECTORS(t, T, T, T, T)                                                                  \
  NORMS(t, T, T)                                                                          \
  SUM(T, t##dot, (int64_t n, const T* x, int64_t incx, const T* y, int64_t incy), dot<T>, \
      (false, n, x, incx, y, incy, result))                                               \
  GER(t##ger, T, T, T, T, false)
#define COMPLEX_DOT(name, T, conjugate)                                                                   \
  CALL(name, (int64_t n, const void* x, int64_t incx, const void* y, int64_t incy, void* result), dot<T>, \
       (conjugate, n, x, incx, y, incy, result))
#define COMPLEX(t, T, r)                                                                            \
  VECTORS(t, T, void, const void*, at<T>)                                                           \
  NORMS(r##t, T, void)                                                                              \
  COMPLEX_DOT(t##dotu_sub, T, false)                                                                \
  COMPLEX_DOT(t##dotc_sub, T, true)                                                                 \
  CALL(t##r##scal, (int64_t n, R<T> alpha, void* x, int64_t incx), scal<T>, (n, T(alpha), x, incx)) \
  GER(t##geru, T, void, const void*, at<T>, false)                                                  \
  GER(t##gerc, T, void, const void*, at<T>, true)
// NOLINTEND(bugprone-macro-parentheses)

REAL(s, float)
REAL(d, double)
COMPLEX(c, C, s)
COMPLEX(z, Z, d)

}  // namespace hiroba
