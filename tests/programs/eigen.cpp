// Eigenpairs of matrices whose eigenvalues are known in closed form: Laplace operators with their double eigenvalues, a
// ring with flux, and tridiagonal matrices that are not normal; of all types of numbers, for both ends of the spectrum
// and targets inside, with and without preconditioner, correction equation and harmonic vectors, of matrices and of
// functions. Checked: eigenvalues with their multiplicity, residuals by a product of the test's own, orthogonality, no
// page faults. Prints the hash of all eigenvectors.
//
//     eigen [--seed N] [--count N] [--damage 1]        damage: one entry of each matrix is not what it should be
#include <algorithm>
#include <eigen.hpp>
#include <numbers>
#include <vector>

#include "random_sparse.hpp"

namespace {

namespace sp = hiroba::sparse;
using namespace random_sparse;
using Z = std::complex<double>;
using std::numbers::pi;

template <typename T>
struct Problem {
  std::string name;
  Whole<T> whole;
  std::vector<Z> values;  // all of them
  bool general = false;
  double size = 0;  // of the largest
};

template <typename T>
T number_of(Z value) {
  if constexpr (is_complex<T>) return static_cast<T>(value);
  else return static_cast<T>(value.real());
}

// In `dimensions` dimensions of `side` points.
template <typename T>
Problem<T> laplace(int64_t side, int dimensions) {
  int64_t n = 1;
  for (int d = 0; d < dimensions; ++d) n *= side;
  Problem<T> out = {"Laplace in " + std::to_string(dimensions) + " dimensions of " + std::to_string(side), Whole<T>(n),
                    std::vector<Z>(static_cast<size_t>(n)), false, 4.0 * dimensions};
  for (int64_t i = 0; i < n; ++i)
    for (int64_t d = 0, step = 1; d < dimensions; ++d, step *= side) {
      const int64_t at = i / step % side;
      out.whole.add(i, i, 2);
      if (at > 0) out.whole.add(i, i - step, -1);
      if (at < side - 1) out.whole.add(i, i + step, -1);
      const double angle = static_cast<double>(at + 1) * pi / static_cast<double>(side + 1);
      out.values[static_cast<size_t>(i)] += 2 - 2 * std::cos(angle);
    }
  return out;
}

template <typename T>
Problem<T> ring(int64_t n, double flux) {
  Problem<T> out = {"ring of " + std::to_string(n), Whole<T>(n), {}, false, 4};
  const double share = flux / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) {
    out.whole.add(i, i, 2);
    out.whole.add(i, (i + 1) % n, number_of<T>(-std::polar(1.0, share)));
    out.whole.add((i + 1) % n, i, number_of<T>(-std::polar(1.0, -share)));
    out.values.emplace_back(2 - 2 * std::cos((2 * pi * static_cast<double>(i) + flux) / static_cast<double>(n)));
  }
  return out;
}

// a on the diagonal, b below, c above.
template <typename T>
Problem<T> tridiagonal(int64_t n, Z a, Z b, Z c) {
  Problem<T> out = {"tridiagonal of " + std::to_string(n), Whole<T>(n), {}, true, 0};
  for (int64_t i = 0; i < n; ++i) {
    out.whole.add(i, i, number_of<T>(a));
    if (i > 0) out.whole.add(i, i - 1, number_of<T>(b));
    if (i < n - 1) out.whole.add(i, i + 1, number_of<T>(c));
    out.values.push_back(a + 2.0 * std::sqrt(b * c) *
                                 std::cos(pi * static_cast<double>(i + 1) / static_cast<double>(n + 1)));
    out.size = std::max(out.size, std::abs(out.values.back()));
  }
  return out;
}

// Best first.
std::vector<Z> wanted(std::vector<Z> all, int part, Z target, int count) {
  const auto key = [&](Z x) {
    return part == HIROBA_SMALLEST  ? x.real()
           : part == HIROBA_LARGEST ? -x.real()
           : part == HIROBA_CLOSEST ? std::abs(x - target)
                                    : -std::abs(x);
  };
  std::stable_sort(all.begin(), all.end(), [&](Z x, Z y) { return key(x) < key(y); });
  all.resize(std::min(all.size(), static_cast<size_t>(count)));
  return all;
}

template <typename T>
class Check {
 public:
  using R = Real<T>;
  Check(const Problem<T>& problem, const sp::linop<T>& a, const sp::linop<T>& function)
      : problem_(problem), a_(a), function_(function), y_(a) {}

  void run(sp::eigen<T> how, const char* name, bool by_function = false) {
    round_name =
        problem_.name + ", " + name + ", " + std::to_string(how.count) + " pairs, seed " + std::to_string(how.seed);
    how.general = problem_.general;
    how.relative = sizeof(R) == 8 ? 1e-11 : 2e-5;
    how.may_fail = true;
    how.most = 20000;
    // After the first step, which has planned the products; result vectors are written after the last one.
    uint64_t first_faults = 0, last_faults = 0;
    how.progress = [&](const sp::eigen_progress& now) {
      sms_statistics counted;
      sms_stats(nullptr, &counted);
      if (now.steps == 1) first_faults = counted.read_faults;
      last_faults = counted.read_faults;
      return false;
    };
    const sp::eigen_result<T> got = sp::eigenpairs(by_function ? function_ : a_, how);
    if (!by_function && last_faults != first_faults) fail("page faults");
    if (!got.converged() || got.count != how.count)
      fail("status " + std::to_string(got.status) + ", " + std::to_string(got.count) + " pairs");
    check_values(got, how);
    check_residuals(got);
    if (!problem_.general) check_orthogonal(got);
    for (const sp::vector<T>& x : got.vectors) add_to_hash(x.own().data(), x.own().size_bytes());
  }

 private:
  double sum(double mine) const { return sms_reduce_double(mine, SMS_SUM); }

  void check_values(const sp::eigen_result<T>& got, const sp::eigen<T>& how) const {
    // Inside the spectrum one may be missing, for which docs/eigen.md says to want one more.
    const int spare = how.part == HIROBA_CLOSEST ? 1 : 0;
    std::vector<Z> rest = wanted(problem_.values, how.part, how.target, how.count + spare);
    // Of a Hermitian matrix the error is at most the residual; the tridiagonal ones here are nearly normal.
    const double bound =
        (problem_.general ? 1e3 : 1) * got.goal + 100 * std::numeric_limits<R>::epsilon() * problem_.size;
    for (const Z& value : got.values) {
      const auto nearest = std::min_element(rest.begin(), rest.end(),
                                            [&](Z x, Z y) { return std::abs(x - value) < std::abs(y - value); });
      if (!(std::abs(*nearest - value) <= bound))
        fail("value " + std::to_string(value.real()) + ", and " + std::to_string(nearest->real()) + " is the nearest");
      rest.erase(nearest);  // so a double one has to be found twice
    }
  }

  void check_residuals(const sp::eigen_result<T>& got) {
    for (size_t k = 0; k < got.values.size(); ++k) {
      sp::apply(a_, got.vectors[k], y_);
      double squares = 0, length = 0;
      for (size_t i = 0; i < y_.own().size(); ++i) {
        const T x = got.vectors[k].own()[i];
        squares += std::norm(y_.own()[i] - number_of<T>(got.values[k]) * x), length += std::norm(x);
      }
      const double residual = std::sqrt(sum(squares)),
                   rounding = 50 * std::numeric_limits<R>::epsilon() * problem_.size;
      if (!(residual <= got.goal + rounding) || !(std::abs(residual - got.residuals[k]) <= 0.1 * got.goal + rounding))
        fail("residual " + std::to_string(residual / got.goal) + " of the goal, said to be " +
             std::to_string(got.residuals[k] / got.goal));
      if (!(std::abs(sum(length) - 1) < 1e3 * std::numeric_limits<R>::epsilon())) fail("not of norm 1");
    }
  }

  void check_orthogonal(const sp::eigen_result<T>& got) const {
    for (size_t k = 0; k < got.vectors.size(); ++k)
      for (size_t l = 0; l < k; ++l) {
        std::complex<double> along = 0;
        for (size_t i = 0; i < got.vectors[k].own().size(); ++i)
          along += std::conj(Z(got.vectors[k].own()[i])) * Z(got.vectors[l].own()[i]);
        const double size = std::hypot(sum(along.real()), sum(along.imag()));
        if (!(size < (sizeof(R) == 8 ? 1e-12 : 1e-5))) fail("vectors are not orthogonal: " + std::to_string(size));
      }
  }

  const Problem<T>& problem_;
  const sp::linop<T>&a_, &function_;
  sp::vector<T> y_;
};

bool damage = false;

template <typename T>
void round(Problem<T> problem) {
  if (damage) problem.whole.add(0, 0, Real<T>(0.01));
  const auto a = sp::linop<T>(hiroba_linop_from_rows(type_of<T>(), problem.whole.n, problem.whole.n, row_of<T>,
                                                     &problem.whole, problem.general ? 0 : HIROBA_HERMITIAN));
  const auto function =
      sp::linop<T>::from_function(problem.whole.n, [&](const T* x, T* y) { hiroba_linop_apply(a.handle(), x, y); }, &a);
  const auto count = static_cast<int>(between(1, std::min<int64_t>(6, problem.whole.n)));
  const auto seed = static_cast<uint64_t>(between(1, 1000000));
  Check<T> check(problem, a, function);
  check.run({.count = count, .part = HIROBA_SMALLEST, .seed = seed}, "smallest");
  check.run({.count = count, .part = HIROBA_LARGEST, .seed = seed}, "largest", true);
  if (problem.whole.n < 12) return;
  const auto jacobi = sp::jacobi(a), ilu = sp::ilu(a);
  const int solver = problem.general ? HIROBA_GMRES : HIROBA_MINRES;
  check.run({.count = count, .preconditioner = &ilu, .seed = seed}, "smallest, ILU");
  check.run({.count = count, .correction = solver, .seed = seed}, "smallest, correction");
  check.run({.count = count, .preconditioner = &ilu, .correction = HIROBA_GMRES, .seed = seed},
            "smallest, ILU and correction");
  check.run({.count = count,
             .part = HIROBA_LARGEST,
             .preconditioner = &jacobi,
             .correction = HIROBA_BICGSTAB,
             .correction_relative = 0.01,
             .seed = seed},
            "largest, correction");
  if (sizeof(Real<T>) == 4) return;  // interior ones are too near to each other for single precision
  // Between two eigenvalues, a third of the way, so that no two are as far.
  std::vector<double> sizes;
  for (const Z& value : problem.values) sizes.push_back(value.real());
  std::sort(sizes.begin(), sizes.end());
  const auto same = [](double a, double b) { return b - a < 1e-3; };
  sizes.erase(std::unique(sizes.begin(), sizes.end(), same), sizes.end());
  const auto at = static_cast<size_t>(between(1, static_cast<int64_t>(sizes.size()) - 2));
  const Z target = sizes[at] + 0.3 * (sizes[at + 1] - sizes[at]) + 1e-3;
  check.run({.count = 1,
             .part = HIROBA_CLOSEST,
             .target = target,
             .harmonic = true,
             .correction = solver,
             .correction_most = 100,
             .seed = seed},
            "closest, harmonic, correction");
}

template <typename T>
void any_round() {
  switch (between(0, 3)) {
    case 0: return round(laplace<T>(between(2, 30), 1));
    case 1: return round(laplace<T>(between(2, 18), 2));
    case 2: return round(laplace<T>(between(2, 7), 3));
    default: break;
  }
  if constexpr (is_complex<T>) {
    if (between(0, 1) == 0) return round(ring<T>(between(3, 120), static_cast<double>(between(1, 5))));
    return round(tridiagonal<T>(between(2, 60), Z(2, 1), Z(-1, 0.25), Z(1.2, 0.1)));
  }
  round(ring<T>(between(3, 120), 0));
}

}  // namespace

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const int64_t count = begin(argc, argv, 10);
  for (int i = 1; i < argc; ++i) damage = damage || std::strcmp(argv[i], "--damage") == 0;
  for (int64_t i = 0; i < count; ++i) {
    switch (between(0, 5)) {
      case 0: any_round<float>(); break;
      case 1: any_round<std::complex<float>>(); break;
      case 2:
      case 3: any_round<double>(); break;
      default: any_round<std::complex<double>>(); break;
    }
  }
  end();
  sms_shutdown();
  return 0;
}
