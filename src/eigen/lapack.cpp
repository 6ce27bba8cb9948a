#include "eigen/lapack.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>

namespace hiroba {

namespace {

using Z = std::complex<double>;

// Fortran passes all arguments by address, and the length of each character last.
struct Functions {
  template <typename W>
  struct Of {
    void (*eigen)() = nullptr;   // dsyev, zheev
    void (*pencil)() = nullptr;  // dsygv, zhegv
    void (*solve)() = nullptr;   // dgesv, zgesv
  };
  Of<double> d;
  Of<Z> z;
  void (*zgees)(const char*, const char*, void*, const int*, Z*, const int*, int*, Z*, Z*, const int*, Z*, const int*,
                double*, int*, int*, size_t, size_t) = nullptr;
  void (*ztrexc)(const char*, const int*, Z*, const int*, Z*, const int*, const int*, const int*, int*,
                 size_t) = nullptr;
  void (*ztrevc)(const char*, const char*, int*, const int*, Z*, const int*, Z*, const int*, Z*, const int*, const int*,
                 int*, Z*, double*, int*, size_t, size_t) = nullptr;
  int (*get_threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
  std::string missing;

  Functions() {
    void* library = nullptr;
    for (const char* const name : {"libopenblas.so.0", "liblapack.so.3"}) {
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) break;
      missing = dlerror();
    }
    if (library == nullptr) return;
    missing.clear();
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr && missing.empty()) missing = format("it has no %s", name);
    };
    find(d.eigen, "dsyev_"), find(z.eigen, "zheev_"), find(d.pencil, "dsygv_"), find(z.pencil, "zhegv_");
    find(d.solve, "dgesv_"), find(z.solve, "zgesv_");
    find(zgees, "zgees_"), find(ztrexc, "ztrexc_"), find(ztrevc, "ztrevc_");
    get_threads = reinterpret_cast<int (*)()>(dlsym(library, "openblas_get_num_threads"));
    set_threads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
  }
  template <typename W>
  const Of<W>& of() const {
    if constexpr (is_complex<W>) return z;
    else return d;
  }
};

const Functions& lapack() {
  static const Functions functions;
  return functions;
}

Status failed(const char* function, int info) {
  return Status::error("LAPACK's %s has failed with info %d: a small dense problem has no solution", function, info);
}

}  // namespace

Status load_lapack() {
  if (lapack().missing.empty()) return {};
  return Status::error(
      "eigenvalues need LAPACK, and neither libopenblas.so.0 nor liblapack.so.3 can be loaded (%s); install one of "
      "them (Debian: libopenblas0-pthread or liblapack3)",
      lapack().missing.c_str());
}

OneThreadOfBlas::OneThreadOfBlas() {
  if (lapack().get_threads == nullptr || lapack().set_threads == nullptr) return;
  before_ = lapack().get_threads();
  if (before_ > 1) lapack().set_threads(1);
}
OneThreadOfBlas::~OneThreadOfBlas() {
  if (before_ > 1) lapack().set_threads(before_);
}

namespace {

// Calls a function of LAPACK that computes eigenvectors; for complex numbers it has one more array. Returns its `info`.
template <typename W, typename... Arguments>
int compute_eigenvectors(void (*function)(), int n, Arguments... arguments) {
  const int room = 66 * n + 1;
  int info = 0;
  std::vector<W> work(static_cast<size_t>(room));
  if constexpr (is_complex<W>) {
    std::vector<double> real_work(static_cast<size_t>(3 * n) + 1);
    reinterpret_cast<void (*)(Arguments..., W*, const int*, double*, int*, size_t, size_t)>(
        function)(arguments..., work.data(), &room, real_work.data(), &info, 1, 1);
  } else {
    reinterpret_cast<void (*)(Arguments..., W*, const int*, int*, size_t, size_t)>(function)(arguments..., work.data(),
                                                                                             &room, &info, 1, 1);
  }
  return info;
}

}  // namespace

template <typename W>
Status hermitian_eigen(Dense<W> a, std::vector<double>& values, Dense<W>& vectors) {
  const int n = a.rows;
  values.resize(static_cast<size_t>(n));
  const int info = compute_eigenvectors<W>(lapack().of<W>().eigen, n, "V", "U", &n, a.values.data(), &n, values.data());
  vectors = std::move(a);
  return info == 0 ? Status() : failed("syev", info);
}

template <typename W>
Status pencil_eigen(Dense<W> a, Dense<W> b, std::vector<double>& values, Dense<W>& vectors, bool& definite) {
  const int n = a.rows, kind = 1;
  values.resize(static_cast<size_t>(n));
  const int info = compute_eigenvectors<W>(lapack().of<W>().pencil, n, &kind, "V", "U", &n, a.values.data(), &n,
                                           b.values.data(), &n, values.data());
  vectors = std::move(a);
  definite = info <= n;
  return info >= 0 ? Status() : failed("sygv", info);
}

Status schur(Zdense a, Order order, Zdense& triangle, Zdense& vectors) {
  const int n = a.rows, room = 66 * n + 1;
  int info = 0, selected = 0;
  vectors = Zdense(n, n);
  std::vector<Z> values(static_cast<size_t>(n)), work(static_cast<size_t>(room));
  std::vector<double> real_work(static_cast<size_t>(n) + 1);
  lapack().zgees("V", "N", nullptr, &n, a.values.data(), &n, &selected, values.data(), vectors.values.data(), &n,
                 work.data(), &room, real_work.data(), nullptr, &info, 1, 1);
  if (info != 0) return failed("zgees", info);
  triangle = std::move(a);
  for (int to = 0; to < n; ++to) {
    int from = to;
    for (int i = to + 1; i < n; ++i)
      if (order.key(triangle.at(i, i)) < order.key(triangle.at(from, from))) from = i;
    if (from == to) continue;
    const int first = from + 1, last = to + 1;
    lapack().ztrexc("V", &n, triangle.values.data(), &n, vectors.values.data(), &n, &first, &last, &info, 1);
    if (info != 0) return failed("ztrexc", info);
  }
  return {};
}

Status triangle_eigen(Zdense triangle, Zdense& vectors) {
  const int n = triangle.rows;
  int info = 0, found = 0;
  vectors = Zdense(n, n);
  std::vector<Z> work(static_cast<size_t>(2 * n) + 1);
  std::vector<double> real_work(static_cast<size_t>(n) + 1);
  lapack().ztrevc("R", "A", nullptr, &n, triangle.values.data(), &n, nullptr, &n, vectors.values.data(), &n, &n, &found,
                  work.data(), real_work.data(), &info, 1, 1);
  if (info != 0) return failed("ztrevc", info);
  for (int j = 0; j < n; ++j) {
    double squares = 0;
    for (int i = 0; i <= j; ++i) squares += std::norm(vectors.at(i, j));
    for (int i = 0; i < n; ++i) vectors.at(i, j) = i <= j ? vectors.at(i, j) / std::sqrt(squares) : Z(0);
  }
  return {};
}

template <typename W>
Status solve_dense(Dense<W> a, Dense<W>& b, bool& regular) {
  const int n = a.rows, columns = b.columns;
  int info = 0;
  std::vector<int> pivots(static_cast<size_t>(n) + 1);
  reinterpret_cast<void (*)(const int*, const int*, W*, const int*, int*, W*, const int*, int*)>(
      lapack().of<W>().solve)(&n, &columns, a.values.data(), &n, pivots.data(), b.values.data(), &n, &info);
  regular = info == 0;
  return info >= 0 ? Status() : failed("gesv", info);
}

template Status hermitian_eigen(Dense<double>, std::vector<double>&, Dense<double>&);
template Status hermitian_eigen(Zdense, std::vector<double>&, Zdense&);
template Status pencil_eigen(Dense<double>, Dense<double>, std::vector<double>&, Dense<double>&, bool&);
template Status pencil_eigen(Zdense, Zdense, std::vector<double>&, Zdense&, bool&);
template Status solve_dense(Dense<double>, Dense<double>&, bool&);
template Status solve_dense(Zdense, Zdense&, bool&);

}  // namespace hiroba
