// Random sparse matrices of all types of numbers, made in all ways, and their products on shared vectors, against loops
// of one rank. Prints the hash of all results, for the comparison of runs.
//
//     linop [--seed N] [--count N]
#include <unistd.h>

#include <algorithm>
#include <set>
#include <vector>

#include "random_sparse.hpp"

namespace {

using namespace random_sparse;

// Rows of very different lengths, empty ones, and dense ones; symmetric or Hermitian if wanted.
template <typename T>
Whole<T> random_matrix(int64_t n, int flags) {
  Whole<T> out(n);
  const bool mirrored = (flags & (HIROBA_SYMMETRIC | HIROBA_HERMITIAN)) != 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t kind = between(0, 20), most = std::min<int64_t>(n, kind == 0 ? 60 : kind < 4 ? 0 : 9);
    for (int64_t k = 0; k < most; ++k) {
      const int64_t j = between(0, 3) == 0 ? between(0, n - 1) : std::clamp<int64_t>(i + between(-5, 5), 0, n - 1);
      T value = number<T>();
      if (!mirrored) {
        out.add(i, j, value);
        continue;
      }
      if (i == j && (flags & HIROBA_HERMITIAN) != 0) value = value + conjugate(value);
      out.add(i, j, value);
      if (i != j) out.add(j, i, (flags & HIROBA_HERMITIAN) != 0 ? conjugate(value) : value);
    }
  }
  return out;
}

// Each rank gives some of the entries: of rows of other ranks, too.
template <typename T>
hiroba_linop from_triplets(const Whole<T>& whole, int flags) {
  std::vector<int64_t> rows, columns;
  std::vector<T> values;
  for (int64_t i = 0; i < whole.n; ++i)
    for (const auto& [j, value] : whole.rows[static_cast<size_t>(i)]) {
      const bool given = (flags & HIROBA_ONE_TRIANGLE) == 0 || j <= i;
      if (!given || between(0, sms_nprocs - 1) != sms_rank) continue;
      rows.push_back(i), columns.push_back(j), values.push_back(value);
    }
  return hiroba_linop_from_triplets(type_of<T>(), whole.n, static_cast<int64_t>(rows.size()), rows.data(),
                                    columns.data(), values.data(), flags);
}

// "3 5 0.25": in the form of the file, with blanks and comments here and there.
template <typename T>
void write_entry(std::FILE* file, int64_t i, int64_t j, const T& value) {
  const std::complex<double> wide = value;
  if (between(0, 15) == 0) std::fputs(between(0, 1) == 0 ? "\n" : "% a comment\n", file);
  std::fprintf(file, "%s%lld\t%lld %.17g", between(0, 9) == 0 ? "  " : "", static_cast<long long>(i + 1),
               static_cast<long long>(j + 1), wide.real());
  if constexpr (is_complex<T>) std::fprintf(file, " %.17g", wide.imag());
  std::fputs(between(0, 9) == 0 ? "\r\n" : "\n", file);
}

template <typename T>
hiroba_linop from_file(const Whole<T>& whole, int flags) {
  char path[] = "linop-XXXXXX";
  if (sms_rank == 0) close(mkstemp(path));
  hiroba_bcast(path, sizeof path, HIROBA_CHAR, 0, HIROBA_ALL);
  const bool triangle = (flags & (HIROBA_SYMMETRIC | HIROBA_HERMITIAN)) != 0 && between(0, 1) == 0;
  std::FILE* const file = std::fopen(sms_rank == 0 ? path : "/dev/null", "w");
  int64_t entries = 0;
  for (int64_t i = 0; i < whole.n; ++i)
    for (const auto& [j, value] : whole.rows[static_cast<size_t>(i)]) entries += triangle && j > i ? 0 : 1;
  std::fprintf(file, "%%%%MatrixMarket matrix coordinate %s %s\n%% first\n%lld %lld %lld\n",
               is_complex<T> ? "complex" : "Real",
               !triangle                                          ? "general"
               : (flags & HIROBA_HERMITIAN) != 0 && is_complex<T> ? "Hermitian"
                                                                  : "symmetric",
               static_cast<long long>(whole.n), static_cast<long long>(whole.n), static_cast<long long>(entries));
  for (int64_t i = 0; i < whole.n; ++i)
    for (const auto& [j, value] : whole.rows[static_cast<size_t>(i)])
      if (!triangle || j <= i) write_entry(file, i, j, value);
  std::fclose(file);
  sms_barrier();
  hiroba_linop const out = hiroba_linop_read(path, type_of<T>(), flags & ~HIROBA_ONE_TRIANGLE);
  if (sms_rank == 0) std::remove(path);
  return out;
}

template <typename T>
hiroba_linop make(Whole<T>& whole, int flags) {
  const int64_t way = between(0, 2);
  if (way == 0) return from_triplets(whole, flags);
  if (way == 1) return from_file(whole, flags);
  return hiroba_linop_from_rows(type_of<T>(), whole.n, whole.n, row_of<T>, &whole, flags & ~HIROBA_ONE_TRIANGLE);
}

// What the operator says of itself: all entries, and each element of others that this rank's rows use once.
template <typename T>
void check_facts(const Whole<T>& whole, const hiroba_linop_facts& facts) {
  int64_t entries = 0;
  std::set<int64_t> of_others;
  for (int64_t i = 0; i < whole.n; ++i) {
    const bool own_row = i >= facts.first && i < facts.first + facts.count;
    for (const auto& [j, value] : whole.rows[static_cast<size_t>(i)]) {
      ++entries;
      if (own_row && (j < facts.first || j >= facts.first + facts.count)) of_others.insert(j);
    }
  }
  if (facts.rows != whole.n || facts.entries != entries || facts.type != type_of<T>())
    fail(std::to_string(facts.rows) + " rows and " + std::to_string(facts.entries) + " entries");
  if (facts.fetched != static_cast<int64_t>(of_others.size()))
    fail(std::to_string(facts.fetched) + " elements of others, not " + std::to_string(of_others.size()));
}

// From this number of rows per rank on, a page of a vector has one owner.
constexpr int64_t rows_of_pages = 8192;

// After the first product there are no page faults; barriers between products change that only where ranks share pages.
template <typename T>
void round(int64_t n, bool barriers) {
  const int kinds[] = {0, HIROBA_SYMMETRIC, HIROBA_HERMITIAN, HIROBA_SYMMETRIC | HIROBA_ONE_TRIANGLE,
                       HIROBA_HERMITIAN | HIROBA_ONE_TRIANGLE};
  const int formats[] = {0, HIROBA_CSR, HIROBA_SELL};
  const int flags = kinds[between(0, 4)] | formats[between(0, 2)];
  round_name = std::to_string(n) + " rows, flags " + std::to_string(flags);
  Whole<T> whole = random_matrix<T>(n, flags);
  hiroba_linop a = make(whole, flags);
  T* x = static_cast<T*>(hiroba_linop_vector(a));
  T* y = static_cast<T*>(hiroba_linop_vector(a));
  const hiroba_linop_facts facts = hiroba_linop_look(a);
  check_facts(whole, facts);
  sms_statistics before = {}, after;
  for (int product = 0; product < 4; ++product) {
    std::vector<T> of_x;
    for (int64_t i = 0; i < n; ++i) of_x.push_back(number<T>());
    std::copy_n(of_x.begin() + facts.first, facts.count, x + facts.first);
    if (barriers) sms_barrier();
    if (product == 1) sms_stats(nullptr, &before);
    hiroba_linop_apply(a, x, y);
    if (product == 3 && (!barriers || n >= rows_of_pages * sms_nprocs)) {
      sms_stats(nullptr, &after);
      if (after.read_faults != before.read_faults || after.pages_fetched != before.pages_fetched)
        fail(std::to_string(after.read_faults - before.read_faults) + " page faults in planned products");
    }
    whole.check(of_x.data(), y, facts.first, facts.count);
    add_to_hash(y + facts.first, static_cast<size_t>(facts.count) * sizeof(T));
  }
  hiroba_linop_free(&a);
  sms_free(x), sms_free(y);
}

}  // namespace

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  const int64_t count = begin(argc, argv, 20);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t n = between(0, 3) == 0 ? between(1, 8) : between(1, 700);
    const bool barriers = between(0, 2) == 0;
    switch (between(0, 3)) {
      case 0: round<float>(n, barriers); break;
      case 1: round<double>(n, barriers); break;
      case 2: round<std::complex<float>>(n, barriers); break;
      default: round<std::complex<double>>(n, barriers); break;
    }
  }
  round<float>(rows_of_pages * sms_nprocs + between(0, 3000), true);
  end();
  sms_shutdown();
  return 0;
}
