// Random calls of blas.h on vectors and matrices of random distributions, against loops in long double: what is written
// is right, everything else keeps its bits. Prints the hash of all results, for the comparison of runs (blas_bits.py).
//
//     blas [--seed N] [--count N] [--most ELEMENTS]
#include <blas.h>
#include <sms.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using Wide = std::complex<long double>;
template <typename T>
struct RealOf {
  using type = T;
};
template <typename R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <typename T>
using Real = typename RealOf<T>::type;
template <typename T>
constexpr bool complex = !std::is_same_v<T, Real<T>>;

uint64_t state, hash = 0xcbf29ce484222325;
uint64_t draw() {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state * 0x2545f4914f6cdd1d;
}
int64_t between(int64_t low, int64_t high) {
  return low + static_cast<int64_t>((draw() >> 16) % static_cast<uint64_t>(high - low + 1));
}
bool toss() { return between(0, 1) == 1; }
long double fraction() { return static_cast<long double>(between(-1000000, 1000000)) / 1000003; }

template <typename T>
T number() {
  if constexpr (complex<T>) return T(static_cast<Real<T>>(fraction()), static_cast<Real<T>>(fraction()));
  else return static_cast<T>(fraction());
}
template <typename T>
Wide wide(const T& x) {
  if constexpr (complex<T>) return {x.real(), x.imag()};
  else return {x, 0};
}

std::string call;
[[noreturn]] void fail(const char* what, int64_t i, Wide got, Wide wanted) {
  char text[400];
  std::snprintf(text, sizeof text, "%s: %s %lld is (%.20Lg, %.20Lg), not (%.20Lg, %.20Lg)", call.c_str(), what,
                static_cast<long long>(i), got.real(), got.imag(), wanted.real(), wanted.imag());
  sms_abort(1, text);
}

void add_to_hash(const void* data, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3;
}

// A shared array of at least n elements, of a random distribution, and the same in private memory.
template <typename T>
struct Shared {
  T* data;
  int64_t n;
  std::vector<T> mirror;

  explicit Shared(int64_t least) : data(nullptr), n(least) {
    const int64_t ranks = sms_nprocs;
    const int kind = static_cast<int>(between(0, 6));
    const int64_t block = between(1, 40), home = between(0, 1000) % ranks;
    if (kind == 0) {
      data = static_cast<T*>(sms_alloc(sizeof(T), static_cast<size_t>(n), static_cast<int>(home)));
    } else if (kind <= 3) {  // blocks, of all ranks or of those from one on
      const int64_t first = kind == 3 ? home : 0;
      const int64_t pieces = std::min(ranks - first, n), dim[] = {n, -1}, div[] = {pieces, -1};
      data =
          static_cast<T*>(sms_mapalloc_large(dim, div, sizeof(T), static_cast<int>(first), static_cast<int>(pieces)));
    } else if (kind <= 5) {  // cyclic: the order of a matrix whose columns are divided
      const int64_t row = block * 12, rows = (n + row - 1) / row;
      n = rows * row;
      const int64_t dim[] = {rows, row, -1}, div[] = {1, ranks, -1};
      data = static_cast<T*>(sms_mapalloc_large(dim, div, sizeof(T), 0, static_cast<int>(ranks)));
    } else {  // of bytes
      const int64_t dim[] = {n * static_cast<int64_t>(sizeof(T)), -1}, div[] = {ranks, -1};
      data = static_cast<T*>(sms_mapalloc_large(dim, div, 1, 0, static_cast<int>(ranks)));
    }
    fill();
  }
  // rows x columns, divided along one dimension or both.
  Shared(int64_t rows, int64_t columns) : data(nullptr), n(rows * columns) {
    const int64_t ranks = sms_nprocs, kind = between(0, 3), way = between(0, 1);
    int64_t along_rows = 1, along_columns = 1;
    if (kind == 0 || kind == 3) along_rows = ranks;
    else if (kind == 1) along_columns = ranks;
    else
      (way == 0 ? along_rows : along_columns) = ranks % 2 == 0 ? ranks / 2 : 1,
                               (way == 0 ? along_columns : along_rows) = ranks % 2 == 0 ? 2 : ranks;
    along_rows = along_rows > rows ? 1 : along_rows, along_columns = along_columns > columns ? 1 : along_columns;
    const int64_t dim[] = {rows, columns, -1}, div[] = {along_rows, along_columns, -1};
    data = static_cast<T*>(sms_mapalloc_large(dim, div, sizeof(T), 0, sms_nprocs));
    fill();
  }
  ~Shared() {
    sms_barrier();
    sms_free(data);
  }
  void fill() {
    for (int64_t i = 0; i < n; ++i) mirror.push_back(number<T>());
    if (sms_rank == 0) std::memcpy(static_cast<void*>(data), mirror.data(), static_cast<size_t>(n) * sizeof(T));
    sms_barrier();
  }
};

// A vector in an array: element i is at index at(i).
struct Place {
  int64_t first, inc, n;
  int64_t at(int64_t i) const { return first + (inc > 0 ? i : i - (n - 1)) * inc; }
};

template <typename T>
struct Vector {
  Place place;
  Shared<T> array;
  explicit Vector(int64_t n)
      : place{between(0, 20), toss() ? 1 : between(1, 5) * (toss() ? 1 : -1), n},
        array(place.first + (n > 0 ? n - 1 : 0) * std::abs(place.inc) + 1 + between(0, 20)) {}
  T* data() { return array.data + place.first; }
  const T& mirror(int64_t i) const { return array.mirror[static_cast<size_t>(place.at(i))]; }

  // Elements are near what is wanted, all others as before; from now on they are the mirror.
  void check(const std::vector<Wide>& wanted, const std::vector<long double>& sizes) {
    sms_barrier();
    check_all(array, wanted, sizes, [&](int64_t i) { return place.at(i); });
  }
};

template <typename T, typename At>
void check_all(Shared<T>& array, const std::vector<Wide>& wanted, const std::vector<long double>& sizes, const At& at) {
  std::vector<char> written(static_cast<size_t>(array.n));
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto k = static_cast<size_t>(at(static_cast<int64_t>(i)));
    written[k] = 1;
    const T& got = array.data[k];
    const long double bound = 16 * std::numeric_limits<Real<T>>::epsilon() * sizes[i];
    if (!(std::abs(wide(got) - wanted[i]) <= bound)) fail("element", static_cast<int64_t>(i), wide(got), wanted[i]);
    array.mirror[k] = got;
    add_to_hash(&got, sizeof got);
  }
  for (size_t k = 0; k < written.size(); ++k)
    if (!written[k] && std::memcmp(&array.data[k], &array.mirror[k], sizeof(T)) != 0)
      fail("untouched index", static_cast<int64_t>(k), wide(array.data[k]), wide(array.mirror[k]));
}

// The calls of a type.
template <typename T>
struct Blas;
#define WAITED(name, ...)                            \
  [&] {                                              \
    if (!started) return hiroba_##name(__VA_ARGS__); \
    hiroba_request request;                          \
    hiroba_##name##_start(__VA_ARGS__, &request);    \
    hiroba_wait(&request);                           \
  }()
#define WAITED_SUM(type, name, ...)                       \
  [&]() -> type {                                         \
    if (!started) return hiroba_##name(__VA_ARGS__);      \
    type value = 77;                                      \
    hiroba_request request;                               \
    hiroba_##name##_start(__VA_ARGS__, &value, &request); \
    hiroba_wait(&request);                                \
    return value;                                         \
  }()
bool started;
#define COMMON(t, T, alpha, beta)                                                                                    \
  static void axpy(int64_t n, T a, const T* x, int64_t ix, T* y, int64_t iy) {                                       \
    WAITED(t##axpy, n, alpha, x, ix, y, iy);                                                                         \
  }                                                                                                                  \
  static void copy(int64_t n, const T* x, int64_t ix, T* y, int64_t iy) { WAITED(t##copy, n, x, ix, y, iy); }        \
  static void scal(int64_t n, T a, T* x, int64_t ix) { WAITED(t##scal, n, alpha, x, ix); }                           \
  static void gemv(int order, int trans, int64_t m, int64_t n, T a, const T* A, int64_t lda, const T* x, int64_t ix, \
                   T b, T* y, int64_t iy) {                                                                          \
    WAITED(t##gemv, order, trans, m, n, alpha, A, lda, x, ix, beta, y, iy);                                          \
  }
#define REAL_BLAS(t, T)                                                                                               \
  template <>                                                                                                         \
  struct Blas<T> {                                                                                                    \
    COMMON(t, T, a, b)                                                                                                \
    static T dot(bool, int64_t n, const T* x, int64_t ix, const T* y, int64_t iy) {                                   \
      return WAITED_SUM(T, t##dot, n, x, ix, y, iy);                                                                  \
    }                                                                                                                 \
    static T nrm2(int64_t n, const T* x, int64_t ix) { return WAITED_SUM(T, t##nrm2, n, x, ix); }                     \
    static T asum(int64_t n, const T* x, int64_t ix) { return WAITED_SUM(T, t##asum, n, x, ix); }                     \
    static void real_scal(int64_t n, T a, T* x, int64_t ix) { scal(n, a, x, ix); }                                    \
    static void ger(bool, int order, int64_t m, int64_t n, T a, const T* x, int64_t ix, const T* y, int64_t iy, T* A, \
                    int64_t lda) {                                                                                    \
      WAITED(t##ger, order, m, n, a, x, ix, y, iy, A, lda);                                                           \
    }                                                                                                                 \
  };
#define COMPLEX_BLAS(t, r, R)                                                                                 \
  template <>                                                                                                 \
  struct Blas<std::complex<R>> {                                                                              \
    using T = std::complex<R>;                                                                                \
    COMMON(t, T, &a, &b)                                                                                      \
    static T dot(bool conjugate, int64_t n, const T* x, int64_t ix, const T* y, int64_t iy) {                 \
      T out;                                                                                                  \
      if (conjugate) WAITED(t##dotc_sub, n, x, ix, y, iy, &out);                                              \
      else WAITED(t##dotu_sub, n, x, ix, y, iy, &out);                                                        \
      return out;                                                                                             \
    }                                                                                                         \
    static R nrm2(int64_t n, const T* x, int64_t ix) { return WAITED_SUM(R, r##t##nrm2, n, x, ix); }          \
    static R asum(int64_t n, const T* x, int64_t ix) { return WAITED_SUM(R, r##t##asum, n, x, ix); }          \
    static void real_scal(int64_t n, R a, T* x, int64_t ix) { WAITED(t##r##scal, n, a, x, ix); }              \
    static void ger(bool conjugate, int order, int64_t m, int64_t n, T a, const T* x, int64_t ix, const T* y, \
                    int64_t iy, T* A, int64_t lda) {                                                          \
      if (conjugate) WAITED(t##gerc, order, m, n, &a, x, ix, y, iy, A, lda);                                  \
      else WAITED(t##geru, order, m, n, &a, x, ix, y, iy, A, lda);                                            \
    }                                                                                                         \
  };
REAL_BLAS(s, float)
REAL_BLAS(d, double)
COMPLEX_BLAS(c, s, float)
COMPLEX_BLAS(z, d, double)

template <typename T>
T factor() {
  const int64_t kind = between(0, 5);
  return kind == 0 ? T(0) : kind == 1 ? T(1) : number<T>();
}

template <typename T>
void check_sum(const char* what, T got, Wide wanted, long double size) {
  add_to_hash(&got, sizeof got);
  if (!(std::abs(wide(got) - wanted) <= 16 * std::numeric_limits<Real<T>>::epsilon() * size))
    fail(what, 0, wide(got), wanted);
}

template <typename T>
void try_sums(int64_t n) {
  Vector<T> x(n), y(n);
  const bool conjugate = toss();
  Wide sum = 0;
  long double size = 0, squares = 0, absolute = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Wide a = wide(x.mirror(i)), b = wide(y.mirror(i));
    sum += (conjugate ? std::conj(a) : a) * b, size += std::abs(a) * std::abs(b);
    squares += std::norm(a), absolute += std::fabs(a.real()) + std::fabs(a.imag());
  }
  call = "dot";
  check_sum("dot", Blas<T>::dot(conjugate, n, x.data(), x.place.inc, y.data(), y.place.inc), sum, size);
  call = "nrm2";
  check_sum("nrm2", Blas<T>::nrm2(n, x.data(), x.place.inc), std::sqrt(squares), std::sqrt(squares));
  call = "asum";
  check_sum("asum", Blas<T>::asum(n, x.data(), x.place.inc), absolute, absolute);
}

// Several calls one after another, without a barrier of the program.
template <typename T>
void try_vectors(int64_t n) {
  Vector<T> x(n), y(n);
  std::vector<Wide> wanted(static_cast<size_t>(n)), other(static_cast<size_t>(n));
  std::vector<long double> sizes(static_cast<size_t>(n));
  const T a = factor<T>(), b = factor<T>();
  const int64_t kind = between(0, 3);
  for (int64_t i = 0; i < n; ++i) {
    const auto k = static_cast<size_t>(i);
    const Wide u = wide(x.mirror(i)), v = wide(y.mirror(i));
    // y = a x + y; x = y; or with x = b x before; or with y scaled by a real number after
    wanted[k] = kind == 0 ? wide(a) * wide(b) * u + v : wide(a) * u + v;
    if (kind == 2) wanted[k] *= 0.5L;
    other[k] = kind == 0 ? wide(b) * u : kind == 1 ? wanted[k] : u;
    sizes[k] = std::abs(wide(a)) * std::abs(u) * (kind == 0 ? std::abs(wide(b)) : 1) + std::abs(v) + std::abs(u);
  }
  call = "axpy of kind " + std::to_string(kind);
  if (kind == 0) Blas<T>::scal(n, b, x.data(), x.place.inc);
  Blas<T>::axpy(n, a, x.data(), x.place.inc, y.data(), y.place.inc);
  if (kind == 1) Blas<T>::copy(n, y.data(), y.place.inc, x.data(), x.place.inc);
  if (kind == 2) Blas<T>::real_scal(n, Real<T>(0.5), y.data(), y.place.inc);
  y.check(wanted, sizes);
  x.check(other, sizes);
}

template <typename T>
struct Matrix {
  bool by_rows;
  int64_t m, n, lda, first;
  Shared<T> array;
  Matrix(int64_t rows, int64_t columns, bool plain)
      : by_rows(toss()),
        m(rows),
        n(columns),
        lda((by_rows ? n : m) + (plain ? 0 : between(0, 7))),
        first(plain ? 0 : between(0, 9)),
        array(plain ? Shared<T>(by_rows ? m : n, lda) : Shared<T>(first + (by_rows ? m : n) * lda)) {}
  int64_t at(int64_t i, int64_t j) const { return first + (by_rows ? i * lda + j : j * lda + i); }
  Wide mirror(int64_t i, int64_t j) const { return wide(array.mirror[static_cast<size_t>(at(i, j))]); }
  T* data() { return array.data + first; }
  int order() const { return by_rows ? HIROBA_ROW_MAJOR : HIROBA_COL_MAJOR; }
};

template <typename T>
void try_gemv(int64_t m, int64_t n) {
  Matrix<T> a(m, n, toss());
  const int trans = HIROBA_NO_TRANS + static_cast<int>(between(0, 2));
  const bool transposed = trans != HIROBA_NO_TRANS;
  const int64_t results = transposed ? n : m, terms = transposed ? m : n;
  Vector<T> x(terms), y(results);
  const T alpha = factor<T>(), beta = factor<T>();
  std::vector<Wide> wanted;
  std::vector<long double> sizes;
  for (int64_t k = 0; k < results; ++k) {
    Wide sum = 0;
    long double size = 0;
    for (int64_t l = 0; l < terms; ++l) {
      const Wide entry = transposed ? a.mirror(l, k) : a.mirror(k, l), of_x = wide(x.mirror(l));
      sum += (trans == HIROBA_CONJ_TRANS ? std::conj(entry) : entry) * of_x, size += std::abs(entry) * std::abs(of_x);
    }
    wanted.push_back(wide(alpha) * sum + wide(beta) * wide(y.mirror(k)));
    sizes.push_back(std::abs(wide(alpha)) * size + std::abs(wide(beta)) * std::abs(wide(y.mirror(k))));
  }
  call = "gemv " + std::to_string(a.order()) + " " + std::to_string(trans) + " " + std::to_string(m) + " x " +
         std::to_string(n);
  Blas<T>::gemv(a.order(), trans, m, n, alpha, a.data(), a.lda, x.data(), x.place.inc, beta, y.data(), y.place.inc);
  y.check(wanted, sizes);
}

template <typename T>
void try_ger(int64_t m, int64_t n) {
  Matrix<T> a(m, n, toss());
  Vector<T> x(m), y(n);
  const bool conjugate = toss();
  const T alpha = factor<T>();
  std::vector<Wide> wanted;
  std::vector<long double> sizes;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const Wide product =
          wide(alpha) * wide(x.mirror(i)) * (conjugate ? std::conj(wide(y.mirror(j))) : wide(y.mirror(j)));
      wanted.push_back(a.mirror(i, j) + product);
      sizes.push_back(std::abs(a.mirror(i, j)) + std::abs(product));
    }
  call = "ger " + std::to_string(a.order()) + " " + std::to_string(m) + " x " + std::to_string(n);
  Blas<T>::ger(conjugate, a.order(), m, n, alpha, x.data(), x.place.inc, y.data(), y.place.inc, a.data(), a.lda);
  sms_barrier();
  check_all(a.array, wanted, sizes, [&](int64_t k) { return a.at(k / n, k % n); });
}

template <typename T>
void try_one(int64_t most) {
  const int64_t n = between(0, 9) == 0 ? between(0, most) : between(0, 300);
  const int64_t wide_one = between(1, 9) == 1 ? most / 16 : 60;
  const int64_t m = between(1, 40), k = between(1, wide_one);
  started = toss();
  switch (between(0, 3)) {
    case 0: return try_sums<T>(n);
    case 1: return try_vectors<T>(n);
    case 2: return toss() ? try_gemv<T>(m, k) : try_gemv<T>(k, m);
    default: return toss() ? try_ger<T>(m, k) : try_ger<T>(k, m);
  }
}

// e^it has norm 1, so 65,536 of them have the norm 256; norms near the ends of the range of exponents.
void try_norms() {
  const int dim[] = {65536, -1}, div[] = {sms_nprocs, -1};
  auto* const x = static_cast<std::complex<double>*>(sms_mapalloc(dim, div, 16, 0, sms_nprocs));
  for (const double scale : {1.0, 1e300, 1e-300}) {
    if (sms_rank == 0)
      for (int i = 0; i < 65536; ++i) x[i] = std::polar(scale, static_cast<double>(i));
    sms_barrier();
    call = "nrm2 of e^it";
    const double norm = hiroba_dznrm2(65536, x, 1);
    if (!(std::fabs(norm / scale - 256) < 256 * 1e-14)) fail("norm", 0, norm, 256.0L * scale);
    sms_barrier();
  }
  if (sms_rank == 0) x[7] = {std::numeric_limits<double>::infinity(), 0};
  sms_barrier();
  if (!std::isinf(hiroba_dznrm2(65536, x, 1))) fail("norm with an infinite element", 0, 0, 0);
  sms_barrier();
  if (sms_rank == 0) x[9] = {0, std::numeric_limits<double>::quiet_NaN()};
  sms_barrier();
  if (!std::isnan(hiroba_dznrm2(65536, x, 1))) fail("norm with NaN", 0, 0, 0);
  sms_barrier();
  sms_free(x);
}

}  // namespace

int main(int argc, char** argv) {
  int64_t seed = 1, count = 100, most = 40000;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    (name == "--seed" ? seed : name == "--count" ? count : most) = std::atoll(argv[i + 1]);
  }
  sms_startup(&argc, &argv);
  state = static_cast<uint64_t>(seed) * 0x9e3779b97f4a7c15 + 1;
  try_norms();
  for (int64_t i = 0; i < count; ++i) switch (between(0, 3)) {
      case 0: try_one<float>(most); break;
      case 1: try_one<double>(most); break;
      case 2: try_one<std::complex<float>>(most); break;
      default: try_one<std::complex<double>>(most);
    }
  if (sms_rank == 0) std::printf("done %016llx\n", static_cast<unsigned long long>(hash));
  sms_shutdown();
  return 0;
}
