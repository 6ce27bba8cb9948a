#include "linear/consecutive.hpp"
#include "linear/kernel_levels.hpp"

namespace hiroba {

namespace {

struct Choice {
  const KernelTables* tables;
  int level;
};

Choice choose() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (v3 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0)
    return {&kernels_v4, 4};
  if (v3) return {&kernels_v3, 3};
#endif
  return {&kernels_base, 0};
}

const Choice& chosen() {
  static const Choice the_choice = choose();
  return the_choice;
}

template <typename T>
const Kernels<T>& kernels() {
  return chosen().tables->of<T>();
}

}  // namespace

template <typename T>
void axpy(int64_t n, T a, const T* x, T* y) {
  kernels<T>().axpy(n, a, x, y);
}
template <typename T>
void scal(int64_t n, T a, T* x) {
  kernels<T>().scal(n, a, x);
}
template <typename T>
Products<Real<T>> dot(int64_t n, const T* x, const T* y) {
  return kernels<T>().dot(n, x, y);
}
template <typename T>
Real<T> absolute(int64_t n, const T* x) {
  return kernels<T>().absolute(n, x);
}
template <typename T>
Real<T> squares(int64_t n, const T* x) {
  return kernels<T>().squares(n, x);
}
template <typename T>
void dots(int64_t rows, int64_t n, const T* a, int64_t lda, const T* x, Products<Real<T>>* out) {
  kernels<T>().dots(rows, n, a, lda, x, out);
}
template <typename T>
void axpys(int64_t rows, int64_t n, const T* a, int64_t lda, const T* coefficient, bool conjugate, T* y) {
  kernels<T>().axpys(rows, n, a, lda, coefficient, conjugate, y);
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be in parentheses.
#define HIROBA_INSTANTIATE(T)                                                               \
  template void axpy<T>(int64_t, T, const T*, T*);                                          \
  template void scal<T>(int64_t, T, T*);                                                    \
  template Products<Real<T>> dot<T>(int64_t, const T*, const T*);                           \
  template Real<T> absolute<T>(int64_t, const T*);                                          \
  template Real<T> squares<T>(int64_t, const T*);                                           \
  template void dots<T>(int64_t, int64_t, const T*, int64_t, const T*, Products<Real<T>>*); \
  template void axpys<T>(int64_t, int64_t, const T*, int64_t, const T*, bool, T*);
// NOLINTEND(bugprone-macro-parentheses)
HIROBA_FOR_NUMBERS(HIROBA_INSTANTIATE)
int kernels_level() { return chosen().level; }

}  // namespace hiroba
