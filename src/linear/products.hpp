// The result of a product of two vectors. A value.
#pragma once

namespace hiroba {

// The sums that give x*y and conj(x)*y of complex vectors, by the parts of x and y; for real ones only rr.
template <typename R>
struct Products {
  R rr, ii, ri, ir;
  Products& operator+=(const Products& other) {
    rr += other.rr, ii += other.ii, ri += other.ri, ir += other.ir;
    return *this;
  }
};

}  // namespace hiroba
