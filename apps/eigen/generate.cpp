// The matrices of --generate.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <numbers>

#include "command.hpp"
#include "eigen.h"

using std::numbers::pi;

generator generator::parse(const team& team, const char* text) {
  generator out;
  const std::string whole = text;
  const size_t colon = whole.find(':');
  const std::string name = whole.substr(0, colon);
  if (name == "ring") out.kind_ = kind::ring;
  else if (name == "tridiagonal") out.kind_ = kind::tridiagonal;
  else if (name.size() == 9 && name.starts_with("laplace") && name[7] >= '1' && name[7] <= '3' && name[8] == 'd')
    out.dimensions_ = name[7] - '0';
  else
    team_agree(&team, false, TEAM_BAD_INPUT,
               "--generate '%s' is not laplace1d:N, laplace2d:N, laplace3d:N, ring:N[:FLUX] or "
               "tridiagonal:N[:BELOW:ABOVE]",
               text);
  std::vector<double> numbers;
  for (const char* at = text + name.size(); *at == ':';) {
    char* end = nullptr;
    numbers.push_back(std::strtod(at + 1, &end));
    if (end == at + 1 || !std::isfinite(numbers.back())) break;
    at = end;
    if (*at == '\0') numbers.push_back(0);  // marks that all has been read
  }
  const size_t least = 2, most = out.kind_ == kind::ring ? 3 : out.kind_ == kind::tridiagonal ? 4 : 2;
  const size_t count = numbers.size();
  const double side = numbers.empty() ? 0 : numbers[0];
  const double rows = std::pow(side, out.dimensions_);
  const bool good = count >= least && count <= most && (most != 4 || count != 3) && side >= 1 && rows < 1e12 &&
                    side == std::floor(side) && (out.kind_ != kind::ring || side >= 3);
  team_agree(&team, good, TEAM_BAD_INPUT,
             "--generate '%s': after the name come whole numbers of points (%d at least), fewer than 1e12 rows, and "
             "for ring the flux, for tridiagonal the numbers below and above the diagonal",
             text, out.kind_ == kind::ring ? 3 : 1);
  out.side_ = static_cast<int64_t>(side), out.rows_ = static_cast<int64_t>(std::llround(rows));
  if (out.kind_ == kind::ring && count == 3) out.flux_ = numbers[1];
  if (out.kind_ == kind::tridiagonal && count == 4) out.below_ = numbers[1], out.above_ = numbers[2];
  return out;
}

int generator::row(int64_t i, int64_t columns[most], Z values[most]) const {
  int count = 0;
  const auto add = [&](int64_t column, Z value) { columns[count] = column, values[count++] = value; };
  if (kind_ == kind::ring) {
    const double share = flux_ / static_cast<double>(rows_);
    add((i + rows_ - 1) % rows_, -std::polar(1.0, -share));
    add(i, 2);
    add((i + 1) % rows_, -std::polar(1.0, share));
    return count;
  }
  if (kind_ == kind::tridiagonal) {
    if (i > 0) add(i - 1, below_);
    add(i, 2);
    if (i < rows_ - 1) add(i + 1, above_);
    return count;
  }
  add(i, 2.0 * dimensions_);
  for (int64_t d = 0, step = 1; d < dimensions_; ++d, step *= side_) {
    const int64_t at = i / step % side_;
    if (at > 0) add(i - step, -1);
    if (at < side_ - 1) add(i + step, -1);
  }
  return count;
}

// Sums of the eigenvalues of each dimension, of which those with the first, or last, `candidates` numbers.
std::vector<Z> generator::all(int64_t candidates, bool from_the_end) const {
  std::vector<Z> line;
  const auto side = static_cast<double>(side_);
  for (int64_t k = 0; k < std::min(candidates, side_); ++k) {
    const auto at = static_cast<double>(from_the_end ? side_ - 1 - k : k);
    if (kind_ == kind::ring) line.emplace_back(2 - 2 * std::cos((2 * pi * at + flux_) / side));
    else if (kind_ == kind::tridiagonal)
      line.push_back(2.0 + 2.0 * std::sqrt(Z(below_ * above_)) * std::cos(pi * (at + 1) / (side + 1)));
    else line.emplace_back(4 * std::pow(std::sin(pi * (at + 1) / (2 * (side + 1))), 2));
  }
  std::vector<Z> out = line;
  for (int d = 1; d < dimensions_; ++d) {
    std::vector<Z> more;
    for (const Z& a : out)
      for (const Z& b : line) more.push_back(a + b);
    out = std::move(more);
  }
  return out;
}

std::vector<Z> generator::exact(int part, Z target, int count) const {
  const bool ends = kind_ == kind::laplace && part != HIROBA_CLOSEST;
  std::vector<Z> out = all(ends ? count : side_, ends && part == HIROBA_LARGEST);
  const auto key = [&](const Z& x) {
    return part == HIROBA_SMALLEST ? x.real() : part == HIROBA_LARGEST ? -x.real() : std::abs(x - target);
  };
  std::stable_sort(out.begin(), out.end(), [&](const Z& x, const Z& y) { return key(x) < key(y); });
  out.resize(static_cast<size_t>(count));
  return out;
}
