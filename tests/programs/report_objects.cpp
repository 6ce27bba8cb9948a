// For option report, in OpenMP: main writes what the threads read, in a variable or an object: report_objects CASE.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

namespace {

constexpr int many = 1 << 21, page = 512, steps = 60;
double field[many];

double* static_rows() {
  static double rows[many];
  return rows;
}

[[gnu::noinline]] double* allocated() {
  auto* const out = static_cast<double*>(std::malloc(many * sizeof(double)));  // allocates malloc
  out[0] = 0;
  return out;
}

template <typename Field>
void fill(Field& numbers, int step) {
  for (int i = 0; i < many; i += page) numbers[i] = step + i;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  double total = 0;
  double *const rows = static_rows(), *const object = allocated();
  std::vector<double> numbers(many);  // allocates vector
  for (int step = 0; step < steps; ++step) {
    const int stride = page * (1 + step % 3);  // no region reads the pages of the one before
    if (std::strcmp(name, "variable") == 0) {
      fill(field, step);
#pragma omp parallel for reduction(+ : total)
      for (int i = 0; i < many; i += stride) total += field[i];  // variable
    } else if (std::strcmp(name, "static") == 0) {
      fill(rows, step);
#pragma omp parallel for reduction(+ : total)
      for (int i = 0; i < many; i += stride) total += rows[i];  // static
    } else if (std::strcmp(name, "malloc") == 0) {
      fill(object, step);
#pragma omp parallel for reduction(+ : total)
      for (int i = 0; i < many; i += stride) total += object[i];  // malloc
    } else if (std::strcmp(name, "vector") == 0) {
      fill(numbers, step);
#pragma omp parallel for reduction(+ : total)
      for (int i = 0; i < many; i += stride) total += std::accumulate(&numbers[i], &numbers[i] + 4, 0.0);  // vector
    }
  }
  std::printf("%g\n", total);
  return 0;
}
