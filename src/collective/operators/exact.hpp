// The sum of floating-point numbers as if exact and rounded once, so that it depends neither on their order nor on
// their grouping (J. R. Shewchuk, Adaptive Precision Floating-Point Arithmetic, 1997; rounded as in CPython's
// math.fsum). Pure; safe anywhere.
#pragma once

#include <cstddef>

namespace hiroba {

// Keeps the sum as numbers that do not overlap, the smallest first.
class ExactSum {
 public:
  void add(double x);
  double value() const;

 private:
  static constexpr int most = 40;  // doubles of 53 bits cover all exponents
  double parts_[most];
  int count_ = 0;
  double special_ = 0;  // the plain sum, if it is not finite
  bool is_special_ = false;
  double zero_ = -0.0;  // the sum if it is zero
};

// sums[i] = the sum of pieces[0][i], pieces[1][i], ...; `sums` may be one of the pieces.
template <typename T>
void add_exactly(T* sums, const char* const* pieces, size_t pieces_count, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    ExactSum sum;
    for (size_t p = 0; p < pieces_count; ++p) sum.add(static_cast<double>(reinterpret_cast<const T*>(pieces[p])[i]));
    sums[i] = static_cast<T>(sum.value());
  }
}

}  // namespace hiroba
