// What the parts of hiroba-eigen share: its command line, the matrices that it makes itself, and what it has found.
//
// Values. Functions with a team are collective, and end the program with one message where something is wrong.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

extern "C" {
#include "../common/files.h"
#include "../common/options.h"
}

using Z = std::complex<double>;

struct settings {
  const char *file, *generate;
  int smallest, largest, closest;
  const char* target;
  bool hermitian, general, ritz;
  double tolerance, absolute;  // relative to |A|; and not
  const char *precondition, *correction;
  int space, restart, steps, seed;
  const char *vectors, *output;
  bool plot, json, quiet, verify, help;
};

// A matrix of --generate: its rows, and its eigenvalues in closed form.
class generator {
 public:
  static constexpr int most = 7;  // entries of a row
  // "laplace2d:100"
  static generator parse(const team& team, const char* text);

  int64_t rows() const { return rows_; }
  bool complex() const { return kind_ == kind::ring || kind_ == kind::tridiagonal; }
  bool general() const { return kind_ == kind::tridiagonal; }
  int row(int64_t i, int64_t columns[most], Z values[most]) const;
  // The `count` best ones by `part` of eigen.h.
  std::vector<Z> exact(int part, Z target, int count) const;

 private:
  enum class kind { laplace, ring, tridiagonal };
  std::vector<Z> all(int64_t candidates, bool from_the_end) const;

  kind kind_ = kind::laplace;
  int dimensions_ = 1;
  int64_t side_ = 1, rows_ = 1;
  double flux_ = 1, below_ = -1, above_ = -0.5;
};

struct point {
  int64_t products;
  int found;
  double residual;
};

struct outcome {
  std::string matrix;                    // as the user has named it
  std::string precondition, correction;  // what was taken
  int64_t rows = 0, entries = 0, steps = 0, products = 0;
  bool converged = false, general = false;
  double goal = 0, seconds = 0, tolerance = 0, absolute = 0;
  std::vector<Z> values;  // smallest first
  std::vector<double> residuals;
  std::vector<point> history;  // of each step
};

void print_table(const team& team, const outcome& found);
void print_json(const team& team, const outcome& found);

// Pictures as SVG, by one rank; false with errno if the file cannot be written.
bool draw_convergence(const char* path, const outcome& found);
bool draw_entries(const char* path, const outcome& found, const std::vector<std::pair<int64_t, int64_t>>& entries);
// Row and column of each entry of a Matrix Market file, or of a generator; false with errno if it cannot be read.
bool entries_of_file(const char* path, std::vector<std::pair<int64_t, int64_t>>& out);
std::vector<std::pair<int64_t, int64_t>> entries_of(const generator& matrix);
