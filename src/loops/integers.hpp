// Systems of linear equations and inequalities over integers: is there a solution? Values; nothing here blocks or
// allocates. The compiler does the same for what it knows: python/hiroba/compiler/core/integers.py.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hiroba {

class Integers {
 public:
  static constexpr int most_variables = 24, most_rows = 96;
  enum class Answer { none, found, undecided };  // undecided: the system is too large

  explicit Integers(int variables) : size_(variables + 1) {}
  Integers(const Integers&) = delete;
  Integers& operator=(const Integers&) = delete;

  // The constant, and the factor of each variable: their sum is 0, or at least 0. No effect if there are too many.
  void equal(const int64_t row[]);
  void at_least(const int64_t row[]);

  Answer solve();                                                                           // once
  int64_t value(int variable) const { return values_[static_cast<size_t>(variable) + 1]; }  // of the solution

 private:
  struct Row {
    std::array<int64_t, most_variables + 1> of;
  };
  struct Rows {
    int count = 0;
    std::array<Row, most_rows> row;
  };
  struct Solved {
    int variable, keep;  // variable = keep * variable + given
    Row given;
  };
  struct Removed {
    int variable, first, end;  // the rows that bound it
  };
  static constexpr int most_kept = 256, most_solved = 64, most_tried = 4096;

  Row row_of(const int64_t row[]) const;
  void add(Rows& rows, const Row& row);
  bool divide(Row& row, bool equation) const;  // these return false if nothing satisfies it
  bool solve_equation(Row row);
  void replace(const Solved& solved);
  bool insert(Rows& rows, Row row);
  int cheapest() const;
  bool eliminate(int variable);
  bool assign(int at);
  int64_t sum(const Row& row);
  int64_t product_sum(int64_t a, int64_t x, int64_t b, int64_t y);

  int size_;
  bool undecided_ = false;
  int tried_ = 0, kept_count_ = 0, solved_count_ = 0, removed_count_ = 0;
  Rows equal_, rows_[2];
  Rows *least_ = &rows_[0], *next_ = &rows_[1];
  std::array<Row, most_kept> kept_;
  std::array<Solved, most_solved> solved_;
  std::array<Removed, most_variables> removed_;
  std::array<int64_t, most_variables + 1> values_{};
};

}  // namespace hiroba
