// Equations are solved by changes of variables that keep integers integers; inequalities by Fourier and Motzkin's
// elimination, with bounds rounded to integers.
#include "loops/integers.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "base/division.hpp"

namespace hiroba {

Integers::Row Integers::row_of(const int64_t row[]) const {
  Row out;
  std::copy_n(row, size_, out.of.begin());
  return out;
}

void Integers::equal(const int64_t row[]) { add(equal_, row_of(row)); }
void Integers::at_least(const int64_t row[]) { add(*least_, row_of(row)); }

void Integers::add(Rows& rows, const Row& row) {
  if (rows.count == most_rows) undecided_ = true;
  else rows.row[static_cast<size_t>(rows.count++)] = row;
}

// a * x + b * y
int64_t Integers::product_sum(int64_t a, int64_t x, int64_t b, int64_t y) {
  int64_t first = 0, second = 0, out = 0;
  if (__builtin_mul_overflow(a, x, &first) || __builtin_mul_overflow(b, y, &second) ||
      __builtin_add_overflow(first, second, &out))
    undecided_ = true;
  return out;
}

int64_t Integers::sum(const Row& row) {
  int64_t out = row.of[0];
  for (size_t k = 1; k < static_cast<size_t>(size_); ++k) out = product_sum(1, out, row.of[k], values_[k]);
  return out;
}

Integers::Answer Integers::solve() {
  while (equal_.count > 0 && !undecided_)
    if (!solve_equation(equal_.row[static_cast<size_t>(--equal_.count)])) return Answer::none;
  next_->count = 0;
  for (int i = 0; i < least_->count && !undecided_; ++i)
    if (!insert(*next_, least_->row[static_cast<size_t>(i)])) return Answer::none;
  std::swap(least_, next_);
  while (least_->count > 0 && !undecided_)
    if (!eliminate(cheapest())) return undecided_ ? Answer::undecided : Answer::none;
  if (undecided_) return Answer::undecided;
  const bool found = assign(removed_count_ - 1);
  for (int i = solved_count_ - 1; i >= 0; --i) {
    const Solved& one = solved_[static_cast<size_t>(i)];
    int64_t& value = values_[static_cast<size_t>(one.variable)];
    value = product_sum(one.keep, value, 1, sum(one.given));
  }
  return undecided_ ? Answer::undecided : found ? Answer::found : Answer::none;
}

bool Integers::divide(Row& row, bool equation) const {
  int64_t common = 0;
  for (int k = 1; k < size_ && common != 1; ++k) common = std::gcd(common, row.of[static_cast<size_t>(k)]);
  if (common == 1) return true;
  if (common == 0) return equation ? row.of[0] == 0 : row.of[0] >= 0;
  if (equation && row.of[0] % common != 0) return false;
  row.of[0] = floor_div(row.of[0], common);
  for (int k = 1; k < size_; ++k) row.of[static_cast<size_t>(k)] /= common;
  return true;
}

bool Integers::solve_equation(Row row) {
  while (!undecided_) {
    if (!divide(row, true)) return false;
    size_t variable = 0;
    for (size_t k = 1; k < static_cast<size_t>(size_); ++k)
      if (row.of[k] != 0 && (variable == 0 || std::abs(row.of[k]) < std::abs(row.of[variable]))) variable = k;
    if (variable == 0) return true;
    // With a factor of 1, the row gives the variable. Else another variable takes its place: of the row remain the
    // residues, which are smaller.
    const int64_t factor = row.of[variable];
    const bool unit = std::abs(factor) == 1;
    Solved solved = {static_cast<int>(variable), unit ? 0 : 1, {}};
    for (size_t k = 0; k < static_cast<size_t>(size_); ++k) {
      solved.given.of[k] = k == variable ? 0 : unit ? -row.of[k] * factor : -floor_div(row.of[k], factor);
      if (k != variable) row.of[k] += factor * solved.given.of[k];
    }
    replace(solved);
    if (unit) return true;
  }
  return true;
}

void Integers::replace(const Solved& solved) {
  if (solved_count_ == most_solved) {
    undecided_ = true;
    return;
  }
  solved_[static_cast<size_t>(solved_count_++)] = solved;
  const auto variable = static_cast<size_t>(solved.variable);
  for (Rows* rows : {&equal_, least_})
    for (size_t i = 0; i < static_cast<size_t>(rows->count); ++i) {
      Row& row = rows->row[i];
      const int64_t factor = row.of[variable];
      if (factor == 0) continue;
      row.of[variable] = solved.keep * factor;
      for (size_t k = 0; k < static_cast<size_t>(size_); ++k)
        row.of[k] = product_sum(1, row.of[k], factor, solved.given.of[k]);
    }
}

// Inserts a row, unless it follows from another one. Returns false if there is no solution.
bool Integers::insert(Rows& rows, Row row) {
  if (!divide(row, false)) return false;
  const auto begin = row.of.begin() + 1, end = row.of.begin() + size_;
  if (std::all_of(begin, end, [](int64_t factor) { return factor == 0; })) return true;
  for (size_t i = 0; i < static_cast<size_t>(rows.count); ++i) {
    Row& old = rows.row[i];
    if (std::equal(begin, end, old.of.begin() + 1)) {
      old.of[0] = std::min(old.of[0], row.of[0]);
      return true;
    }
    if (std::equal(begin, end, old.of.begin() + 1, [](int64_t a, int64_t b) { return a == -b; }) &&
        row.of[0] + old.of[0] < 0)
      return false;
  }
  add(rows, row);
  return true;
}

// Returns the variable whose elimination makes the fewest rows.
int Integers::cheapest() const {
  int best = 0, least = std::numeric_limits<int>::max();
  for (size_t k = 1; k < static_cast<size_t>(size_); ++k) {
    int low = 0, high = 0;
    for (size_t i = 0; i < static_cast<size_t>(least_->count); ++i)
      low += least_->row[i].of[k] > 0, high += least_->row[i].of[k] < 0;
    if (low + high > 0 && low * high < least) best = static_cast<int>(k), least = low * high;
  }
  return best;
}

bool Integers::eliminate(int variable) {
  const auto at = static_cast<size_t>(variable);
  next_->count = 0;
  Removed removed = {variable, kept_count_, kept_count_};
  for (size_t i = 0; i < static_cast<size_t>(least_->count); ++i) {
    const Row& row = least_->row[i];
    if (row.of[at] == 0) add(*next_, row);
    else if (removed.end == most_kept) undecided_ = true;
    else kept_[static_cast<size_t>(removed.end++)] = row;
  }
  removed_[static_cast<size_t>(removed_count_++)] = removed;
  kept_count_ = removed.end;
  for (int l = removed.first; l < removed.end && !undecided_; ++l)
    for (int h = removed.first; h < removed.end && !undecided_; ++h) {
      const Row &low = kept_[static_cast<size_t>(l)], &high = kept_[static_cast<size_t>(h)];
      if (low.of[at] <= 0 || high.of[at] >= 0) continue;
      Row row;
      for (size_t k = 0; k < static_cast<size_t>(size_); ++k)
        row.of[k] = product_sum(low.of[at], high.of[k], -high.of[at], low.of[k]);
      if (!undecided_ && !insert(*next_, row)) return false;
    }
  std::swap(least_, next_);
  return true;
}

// Gives values to the variables that were eliminated, in the opposite order.
bool Integers::assign(int at) {
  if (at < 0) return true;
  const Removed& removed = removed_[static_cast<size_t>(at)];
  const auto variable = static_cast<size_t>(removed.variable);
  int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
  const int64_t none = low, any = high;
  values_[variable] = 0;
  for (int i = removed.first; i < removed.end; ++i) {
    const Row& row = kept_[static_cast<size_t>(i)];
    const int64_t rest = sum(row), factor = row.of[variable];
    if (factor > 0) low = std::max(low, -floor_div(rest, factor));
    else high = std::min(high, floor_div(rest, -factor));
  }
  if (low == none) low = std::min<int64_t>(0, high);
  if (high == any) high = std::max<int64_t>(0, low);
  for (int64_t value = low; value <= high && !undecided_; ++value) {
    if (++tried_ > most_tried) undecided_ = true;
    values_[variable] = value;
    if (!undecided_ && assign(at - 1)) return true;
  }
  return false;
}

}  // namespace hiroba
