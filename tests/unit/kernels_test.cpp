// The vector code of each kind of processor that this one can run: every function, type, length around whole vectors,
// alignment and distance between rows, against sums in long double. What lies beside the vectors stays as it is.
#include "linear/kernels.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "linear/consecutive.hpp"
#include "linear/kernel_levels.hpp"

namespace hiroba {
namespace {

using Wide = std::complex<long double>;

std::vector<const KernelTables*> levels() {
  std::vector<const KernelTables*> out = {&kernels_base};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) out.push_back(&kernels_v3);
  if (kernels_level() == 4) out.push_back(&kernels_v4);
#endif
  return out;
}

template <typename T>
class KernelsOf : public testing::Test {
 protected:
  using R = Real<T>;
  static constexpr int64_t around = 8;  // elements of guard before and after

  std::vector<T> numbers(int64_t n) {
    std::vector<T> out(static_cast<size_t>(n));
    for (T& x : out) {
      if constexpr (is_complex<T>) x = T(static_cast<R>(spread_(generator_)), static_cast<R>(spread_(generator_)));
      else x = static_cast<R>(spread_(generator_));
    }
    return out;
  }
  static Wide wide(const T& x) {
    if constexpr (is_complex<T>) return {x.real(), x.imag()};
    else return {x, 0};
  }
  static void near(const Wide& got, const Wide& wanted, int64_t terms, const char* what, int64_t n) {
    const long double limit = 4 * std::numeric_limits<R>::epsilon() * static_cast<long double>(terms + 2);
    EXPECT_LE(std::abs(got - wanted), limit) << what << " of " << n;
  }
  // Equal bits in front of the vector and after it.
  static void untouched(const std::vector<T>& now, const std::vector<T>& before, int64_t begin, int64_t n) {
    for (size_t i = 0; i < now.size(); ++i)
      EXPECT_TRUE((i >= static_cast<size_t>(begin) && i < static_cast<size_t>(begin + n)) || now[i] == before[i]) << i;
  }
  static Wide value(const Products<R>& p, bool conjugate) {
    if constexpr (!is_complex<T>) return {p.rr, 0};
    else return conjugate ? Wide(p.rr + p.ii, p.ri - p.ir) : Wide(p.rr - p.ii, p.ri + p.ir);
  }

  std::mt19937 generator_{1};
  std::uniform_real_distribution<double> spread_{-1, 1};
};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(KernelsOf, Types);

TYPED_TEST(KernelsOf, AxpyAndScal) {
  using T = TypeParam;
  for (const KernelTables* tables : levels())
    for (int64_t n = 0; n < 140; ++n)
      for (int64_t begin = 0; begin < this->around; ++begin) {
        const T a = this->numbers(1)[0];
        const std::vector<T> x = this->numbers(n + 2 * this->around), before = this->numbers(n + 2 * this->around);
        std::vector<T> y = before, z = before;
        tables->of<T>().axpy(n, a, x.data() + begin, y.data() + begin);
        tables->of<T>().scal(n, a, z.data() + begin);
        for (int64_t i = begin; i < begin + n; ++i) {
          const auto k = static_cast<size_t>(i);
          this->near(this->wide(y[k]), this->wide(a) * this->wide(x[k]) + this->wide(before[k]), 2, "axpy", n);
          this->near(this->wide(z[k]), this->wide(a) * this->wide(before[k]), 2, "scal", n);
        }
        this->untouched(y, before, begin, n), this->untouched(z, before, begin, n);
      }
}

TYPED_TEST(KernelsOf, Sums) {
  using T = TypeParam;
  for (const KernelTables* tables : levels())
    for (int64_t n = 0; n < 300; n += n < 150 ? 1 : 37)
      for (const int64_t begin : {0, 1, 3}) {
        const std::vector<T> x = this->numbers(n + this->around), y = this->numbers(n + this->around);
        Wide dotu = 0, dotc = 0, absolute = 0, squares = 0;
        for (int64_t i = begin; i < begin + n; ++i) {
          const Wide u = this->wide(x[static_cast<size_t>(i)]), v = this->wide(y[static_cast<size_t>(i)]);
          dotu += u * v, dotc += std::conj(u) * v;
          absolute += std::fabs(u.real()) + std::fabs(u.imag()), squares += std::norm(u);
        }
        const Kernels<T>& k = tables->of<T>();
        this->near(this->value(k.dot(n, x.data() + begin, y.data() + begin), false), dotu, 2 * n, "dotu", n);
        this->near(this->value(k.dot(n, x.data() + begin, y.data() + begin), true), dotc, 2 * n, "dotc", n);
        this->near(Wide(k.absolute(n, x.data() + begin)), absolute, 2 * n, "asum", n);
        this->near(Wide(k.squares(n, x.data() + begin)), squares, 2 * n, "nrm2", n);
      }
}

// And a row has the same bits in whichever rows it is computed together.
TYPED_TEST(KernelsOf, RowsOfMatrices) {
  using T = TypeParam;
  using R = Real<T>;
  for (const KernelTables* tables : levels())
    for (int64_t n = 0; n < 80; n += n < 40 ? 1 : 13)
      for (int64_t rows = 0; rows < 7; ++rows) {
        const int64_t lda = n + rows % 3;
        const Kernels<T>& k = tables->of<T>();
        const std::vector<T> a = this->numbers(rows * lda + 1), x = this->numbers(n + 1), c = this->numbers(rows + 1);
        std::vector<Products<R>> out(static_cast<size_t>(rows) + 1, Products<R>{7, 7, 7, 7});
        k.dots(rows, n, a.data(), lda, x.data(), out.data());
        EXPECT_EQ(out[static_cast<size_t>(rows)].rr, 7);
        for (int64_t r = 0; r < rows; ++r) {
          Wide sum = 0;
          for (int64_t j = 0; j < n; ++j)
            sum += this->wide(a[static_cast<size_t>(r * lda + j)]) * this->wide(x[static_cast<size_t>(j)]);
          this->near(this->value(out[static_cast<size_t>(r)], false), sum, 2 * n, "gemv N", n);
          Products<R> alone = {};
          k.dots(1, n, a.data() + r * lda, lda, x.data(), &alone);
          EXPECT_EQ(this->value(alone, true), this->value(out[static_cast<size_t>(r)], true))
              << "row " << r << " of " << n;
        }
        for (const bool conjugate : {false, true}) {
          const std::vector<T> before = this->numbers(n + this->around);
          std::vector<T> y = before;
          k.axpys(rows, n, a.data(), lda, c.data(), conjugate, y.data());
          this->untouched(y, before, 0, n);
          for (int64_t j = 0; j < n; ++j) {
            Wide sum = this->wide(before[static_cast<size_t>(j)]);
            for (int64_t r = 0; r < rows; ++r) {
              const Wide entry = this->wide(a[static_cast<size_t>(r * lda + j)]);
              sum += this->wide(c[static_cast<size_t>(r)]) * (conjugate ? std::conj(entry) : entry);
            }
            this->near(this->wide(y[static_cast<size_t>(j)]), sum, 2 * rows, "gemv T", n);
          }
        }
      }
}

// Vectors that end where memory ends: nothing beyond them is read or written.
TYPED_TEST(KernelsOf, NothingBeyondTheEndIsTouched) {
  using T = TypeParam;
  constexpr size_t page = 4096;
  const auto memory = [] {
    char* const at =
        static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(at + page, page, PROT_NONE), 0);
    return at + page;
  };
  char *const end_x = memory(), *const end_y = memory();
  for (const KernelTables* tables : levels())
    for (int64_t n = 1; n < 70; ++n) {
      T* const x = reinterpret_cast<T*>(end_x) - n;
      T* const y = reinterpret_cast<T*>(end_y) - n;
      const Kernels<T>& k = tables->of<T>();
      Products<Real<T>> out;
      k.axpy(n, T(1), x, y), k.scal(n, T(2), x), k.dot(n, x, y), k.absolute(n, x), k.squares(n, x);
      k.dots(1, n, x, n, y, &out), k.axpys(1, n, x, n, x, true, y);
    }
  for (char* const end : {end_x, end_y}) munmap(end - page, 2 * page);
}

}  // namespace
}  // namespace hiroba
