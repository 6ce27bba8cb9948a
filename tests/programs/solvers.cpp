// Random systems of all types of numbers with known solutions, solved by every method that suits the matrix, with every
// preconditioner, on matrices and on functions: the solution is right, what the call says of it is true, the residuals
// fall as the method's theory says, and no product faults. Prints the hash of all solutions.
//
//     solvers [--seed N] [--count N]
#include <algorithm>
#include <vector>

#include "random_sparse.hpp"

namespace {

using namespace random_sparse;

enum class Kind { definite, hermitian, general };

// Well conditioned: the diagonal is larger than the rest of its row. That of a Hermitian matrix has both signs.
template <typename T>
Whole<T> random_system(int64_t n, Kind kind) {
  Whole<T> out(n);
  std::vector<Real<T>> sums(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = between(0, 4); k > 0; --k) {
      const int64_t j = between(0, 1) == 0 ? between(0, n - 1) : std::min(n - 1, i + between(1, 30));
      if (i == j) continue;
      const T value = number<T>();
      out.add(i, j, value);
      sums[static_cast<size_t>(i)] += std::abs(value);
      if (kind == Kind::general) continue;
      out.add(j, i, conjugate(value));
      sums[static_cast<size_t>(j)] += std::abs(value);
    }
  for (int64_t i = 0; i < n; ++i) {
    const Real<T> size = Real<T>(1.2) * sums[static_cast<size_t>(i)] + 1;
    out.add(i, i, kind == Kind::hermitian && between(0, 1) == 0 ? T(-size) : T(size));
  }
  return out;
}

struct Product {
  hiroba_linop a;
};
void multiply(const void* x, void* y, void* context) { hiroba_linop_apply(static_cast<Product*>(context)->a, x, y); }

template <typename T>
struct System {
  Kind kind;
  Whole<T> whole;
  hiroba_linop a;
  hiroba_linop_facts facts;
  T *x, *b;
  std::vector<T> solution;
  Real<T> size_of_b = 0;

  System(int64_t n, Kind of)
      : kind(of),
        whole(random_system<T>(n, of)),
        a(hiroba_linop_from_rows(type_of<T>(), n, n, row_of<T>, &whole, between(0, 1) == 0 ? HIROBA_CSR : HIROBA_SELL)),
        facts(hiroba_linop_look(a)),
        x(static_cast<T*>(hiroba_linop_vector(a))),
        b(static_cast<T*>(hiroba_linop_vector(a))) {
    for (int64_t i = 0; i < n; ++i) solution.push_back(number<T>());
    std::copy_n(solution.begin() + facts.first, facts.count, x + facts.first);
    hiroba_linop_apply(a, x, b);
    double squares = 0;
    for (int64_t i = facts.first; i < facts.first + facts.count; ++i) squares += std::norm(b[i]);
    size_of_b = static_cast<Real<T>>(std::sqrt(sms_reduce_double(squares, SMS_SUM)));
  }
  ~System() {
    hiroba_linop_free(&a);
    sms_free(x), sms_free(b);
  }

  void solve(int method, hiroba_linop m, hiroba_linop with, const char* name) {
    round_name = std::string(name) + ", " + std::to_string(facts.rows) + " rows, method " + std::to_string(method);
    std::vector<double> history(2000, -1);
    hiroba_solver how = {};
    how.method = method, how.preconditioner = m;
    how.relative = sizeof(Real<T>) == 8 ? 1e-11 : 1e-4;
    how.history = history.data(), how.room = static_cast<int64_t>(history.size()), how.most = 1500, how.may_fail = 1;
    how.restart = kind == Kind::hermitian ? 300 : 0;  // fewer vectors stagnate
    std::fill_n(x + facts.first, facts.count, T(0));
    sms_statistics before, after;
    sms_stats(nullptr, &before);
    const hiroba_solution got = hiroba_solve(with, b, x, &how);
    sms_stats(nullptr, &after);
    if (with == a && after.read_faults != before.read_faults) fail("page faults");
    if (got.status != HIROBA_CONVERGED)
      fail("status " + std::to_string(got.status) + ", residual " + std::to_string(got.residual / size_of_b));
    if (!(got.residual <= got.goal) || std::abs(got.goal - how.relative * size_of_b) > 1e-5 * got.goal)
      fail("residual " + std::to_string(got.residual) + " for goal " + std::to_string(got.goal));
    check_history(history, got, method);
    check_solution(how.relative);
    add_to_hash(x + facts.first, static_cast<size_t>(facts.count) * sizeof(T));
  }

 private:
  // Residuals of GMRES and MINRES do not grow (without another norm), and the first one is |b|.
  void check_history(const std::vector<double>& history, const hiroba_solution& got, int method) const {
    if (std::abs(history[0] - size_of_b) > 1e-4 * size_of_b)
      fail("the history begins with " + std::to_string(history[0]));
    for (int64_t i = 0; i <= got.iterations; ++i) {
      const auto k = static_cast<size_t>(i);
      if (history[k] < 0) fail("no residual of iteration " + std::to_string(i));
      if (method == HIROBA_GMRES && i > 0 && history[k] > history[k - 1] * 1.001 + got.goal) fail("a residual grows");
    }
    if (history[static_cast<size_t>(got.iterations) + 1] >= 0) fail("more residuals than iterations");
  }
  void check_solution(double relative) const {
    for (int64_t i = facts.first; i < facts.first + facts.count; ++i) {
      const double off = std::abs(x[i] - solution[static_cast<size_t>(i)]);
      if (!(off <= 100 * relative * size_of_b))
        fail("element " + std::to_string(i) + " is off by " + std::to_string(off));
    }
  }
};

template <typename T>
void round(int64_t n, Kind kind) {
  System<T> system(n, kind);
  Product product = {system.a};
  hiroba_linop function = hiroba_linop_from_function(type_of<T>(), n, multiply, &product, system.a);
  hiroba_linop none = HIROBA_NO_LINOP, jacobi = hiroba_linop_jacobi(system.a);
  hiroba_linop ilu = hiroba_linop_ilu(system.a, static_cast<double>(between(0, 2)) / 2);
  const auto by = [&](const std::vector<int>& methods, hiroba_linop m, const char* name) {
    for (const int method : methods) system.solve(method, m, system.a, name);
    system.solve(methods[0], m, function, name);
  };
  if (kind == Kind::definite) {
    hiroba_linop chebyshev = hiroba_linop_chebyshev(system.a, static_cast<int>(between(1, 6)), 0, 0);
    const std::vector<int> all = {HIROBA_CG, HIROBA_PIPELINED_CG, HIROBA_MINRES, HIROBA_BICGSTAB, HIROBA_GMRES};
    by(all, none, "definite");
    by(all, jacobi, "definite, Jacobi");
    by(all, ilu, "definite, ILU");
    by(all, chebyshev, "definite, Chebyshev");
    hiroba_linop_free(&chebyshev);
  } else if (kind == Kind::hermitian) {
    by({HIROBA_MINRES, HIROBA_GMRES}, none, "Hermitian");
    by({HIROBA_GMRES, HIROBA_BICGSTAB}, jacobi, "Hermitian, Jacobi");
  } else {
    by({HIROBA_GMRES, HIROBA_BICGSTAB}, none, "general");
    by({HIROBA_GMRES, HIROBA_BICGSTAB}, jacobi, "general, Jacobi");
    by({HIROBA_BICGSTAB, HIROBA_GMRES}, ilu, "general, ILU");
  }
  for (hiroba_linop* m : {&function, &jacobi, &ilu}) hiroba_linop_free(m);
}

constexpr int64_t side = 100;  // of a square

// Row i of the Laplace operator on the square.
int64_t laplace(int64_t i, int64_t columns[], void* values, void*) {
  const int64_t x = i % side, y = i / side;
  const int64_t near[] = {y > 0 ? i - side : -1, x > 0 ? i - 1 : -1, i, x < side - 1 ? i + 1 : -1,
                          y < side - 1 ? i + side : -1};
  int64_t count = 0;
  for (const int64_t j : near)
    if (j >= 0) columns[count] = j, static_cast<double*>(values)[count++] = j == i ? 4 : -1;
  return count;
}

// The recurrences of pipelined CG lose this residual to rounding errors, unless they are replaced in time.
void accurate() {
  hiroba_linop a = hiroba_linop_from_rows(HIROBA_DOUBLE, side * side, 5, laplace, nullptr, HIROBA_SYMMETRIC);
  hiroba_linop jacobi = hiroba_linop_jacobi(a);
  const hiroba_linop_facts own = hiroba_linop_look(a);
  double *const b = static_cast<double*>(hiroba_linop_vector(a)),
                *const x = static_cast<double*>(hiroba_linop_vector(a)),
                *const product = static_cast<double*>(hiroba_linop_vector(a));
  for (const hiroba_linop m : {HIROBA_NO_LINOP, jacobi}) {
    round_name = "pipelined CG that is to be accurate";
    for (int64_t i = own.first; i < own.first + own.count; ++i) b[i] = 1, x[i] = 0;
    hiroba_solver how = {};
    how.method = HIROBA_PIPELINED_CG, how.preconditioner = m, how.relative = 1e-12, how.may_fail = 1;
    const hiroba_solution got = hiroba_solve(a, b, x, &how);
    hiroba_linop_apply(a, x, product);
    double squares = 0;
    for (int64_t i = own.first; i < own.first + own.count; ++i) squares += std::norm(b[i] - product[i]);
    const double off = std::sqrt(sms_reduce_double(squares, SMS_SUM)) / side;
    constexpr int most = 400;  // rounding errors, which processors make differently, decide: 340 on one
    if (got.status != HIROBA_CONVERGED || got.iterations > most || off > 1.01e-12)
      fail("status " + std::to_string(got.status) + ", residual " + std::to_string(off * 1e12) + "e-12 after " +
           std::to_string(got.iterations));
  }
  for (double* const v : {b, x, product}) sms_free(v);
  hiroba_linop_free(&jacobi), hiroba_linop_free(&a);
}

// Numbers whose squares are out of range change no digit; a solution that is out of range is no convergence.
void extreme() {
  constexpr int64_t n = 60;
  struct Case {
    double a, b;
    bool converges;
  };
  const auto row = [](int64_t i, int64_t columns[], void* values, void* scale) -> int64_t {
    int64_t count = 0;
    for (const int64_t j : {i - 1, i, i + 1})
      if (j >= 0 && j < n)
        columns[count] = j,
        static_cast<double*>(values)[count++] = (j == i ? 3 : -1) * *static_cast<const double*>(scale);
    return count;
  };
  for (Case now : {Case{1e-160, 1e-160, true}, {1e200, 1e-100, true}, {1, 1e250, true}, {1e200, 1e-200, false}}) {
    hiroba_linop a = hiroba_linop_from_rows(HIROBA_DOUBLE, n, 3, row, &now.a, 0);
    hiroba_linop jacobi = hiroba_linop_jacobi(a);
    const hiroba_linop_facts own = hiroba_linop_look(a);
    double *const b = static_cast<double*>(hiroba_linop_vector(a)), *const x =
                                                                        static_cast<double*>(hiroba_linop_vector(a));
    for (int method = HIROBA_CG; method <= HIROBA_MINRES; ++method) {
      round_name = "extreme numbers, method " + std::to_string(method);
      for (int64_t i = own.first; i < own.first + own.count; ++i)
        b[i] = (i == 0 || i == n - 1 ? 2 : 1) * now.b, x[i] = 0;  // of the solution 1, 1, ..
      hiroba_solver how = {};
      how.method = method, how.relative = 1e-10, how.may_fail = 1;
      how.preconditioner = method == HIROBA_MINRES ? HIROBA_NO_LINOP : jacobi;
      const hiroba_solution got = hiroba_solve(a, b, x, &how);
      if ((got.status == HIROBA_CONVERGED) != now.converges) fail("status " + std::to_string(got.status));
      if (!now.converges) continue;
      if (!(got.residual <= got.goal && got.goal < 2e-9 * now.b)) fail("a residual in other units");
      for (int64_t i = own.first; i < own.first + own.count; ++i)
        if (!(std::abs(x[i] / now.b * now.a - 1) < 1e-8)) fail("element " + std::to_string(i) + " is wrong");
    }
    sms_free(b), sms_free(x);
    hiroba_linop_free(&jacobi), hiroba_linop_free(&a);
  }
}

// With all fill-in on the diagonal the factors of a rank's block have its row sums, with 0.8 of other ranks' columns:
// they make 1, 1, .. of these. Without any they do not, and CG needs far more iterations.
void relaxed() {
  round_name = "relaxed incomplete factors";
  hiroba_linop a = hiroba_linop_from_rows(HIROBA_DOUBLE, side * side, 5, laplace, nullptr, HIROBA_SYMMETRIC);
  const hiroba_linop_facts own = hiroba_linop_look(a);
  auto* const sums = static_cast<double*>(hiroba_linop_vector(a));
  auto* const x = static_cast<double*>(hiroba_linop_vector(a));
  int64_t iterations[2];
  for (const int relax : {0, 1}) {
    hiroba_linop m = hiroba_linop_ilu(a, relax);
    for (int64_t i = own.first; i < own.first + own.count; ++i) {
      int64_t columns[5];
      double values[5];
      const int64_t count = laplace(i, columns, values, nullptr);
      sums[i] = 0;
      for (int64_t k = 0; k < count; ++k)
        sums[i] += values[k] * (columns[k] >= own.first && columns[k] < own.first + own.count ? 1 : 0.8 * relax);
    }
    hiroba_linop_apply(m, sums, x);
    double off = 0;
    for (int64_t i = own.first; i < own.first + own.count; ++i) off = std::max(off, std::abs(x[i] - 1)), x[i] = 0;
    if (own.count > 0 && (relax == 0 ? off < 0.1 : off > 1e-9)) fail("row sums are off by " + std::to_string(off));
    hiroba_solver how = {};
    how.preconditioner = m;
    iterations[relax] = hiroba_solve(a, sums, x, &how).iterations;
    hiroba_linop_free(&m);
  }
  if (iterations[1] > iterations[0] * 2 / 3)
    fail(std::to_string(iterations[1]) + " iterations, and " + std::to_string(iterations[0]) + " without fill-in");
  sms_free(sums), sms_free(x);
  hiroba_linop_free(&a);
}

}  // namespace

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const int64_t count = begin(argc, argv, 10);
  relaxed();
  accurate();
  extreme();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t n = between(0, 4) == 0 ? between(1, 8) : between(20, 600);
    const auto kind = static_cast<Kind>(between(0, 2));
    switch (between(0, 3)) {
      case 0: round<float>(n, kind); break;
      case 1: round<double>(n, kind); break;
      case 2: round<std::complex<float>>(n, kind); break;
      default: round<std::complex<double>>(n, kind); break;
    }
  }
  end();
  sms_shutdown();
  return 0;
}
