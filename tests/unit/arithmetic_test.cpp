#include "collective/operators/arithmetic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "collective/operators/combine.hpp"

namespace hiroba {
namespace {

template <typename T>
constexpr Type type_of = Type::float64;
template <>
constexpr Type type_of<float> = Type::float32;
template <>
constexpr Type type_of<long double> = Type::long_double;

template <typename T>
struct ArithmeticTest : testing::Test {};
using Reals = testing::Types<float, double, long double>;
TYPED_TEST_SUITE(ArithmeticTest, Reals);

// Whatever the place, the order and the distance of the elements.
TYPED_TEST(ArithmeticTest, ExtremesOfANaNAreOne) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  for (const Op op : {Op::max, Op::min})
    for (const int64_t distance : {1, 3})
      for (const T other : {T(1), -infinity, infinity, nan}) {
        Arithmetic arithmetic;
        const int type = static_cast<int>(type_of<T>);
        ASSERT_TRUE(Arithmetic::make(type, type, static_cast<int>(op), arithmetic).ok());
        std::vector<T> left(37, other), right(37, other);
        for (size_t i = 0; i < left.size(); ++i) (i % 2 == 0 ? left : right)[i] = i % 4 < 2 ? nan : -nan;
        const int64_t stride = distance * static_cast<int64_t>(sizeof(T)), count = 37 / distance;
        arithmetic.apply(reinterpret_cast<char*>(left.data()), stride, reinterpret_cast<const char*>(right.data()),
                         stride, count);
        for (int64_t i = 0; i < count; ++i) EXPECT_TRUE(std::isnan(left[static_cast<size_t>(i * distance)]));
      }
}

TYPED_TEST(ArithmeticTest, ExtremesOfNumbers) {
  using T = TypeParam;
  const T tiny = std::numeric_limits<T>::denorm_min(), infinity = std::numeric_limits<T>::infinity();
  const std::vector<T> values = {-infinity, -2, -tiny, 0, tiny, 2, infinity};
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = 0; j < values.size(); ++j)
      for (const Op op : {Op::max, Op::min}) {
        T to = values[i];
        find_apply(type_of<T>, op)(reinterpret_cast<char*>(&to), 0, reinterpret_cast<const char*>(&values[j]), 0, 1);
        EXPECT_EQ(to, values[op == Op::max ? std::max(i, j) : std::min(i, j)]);
      }
}

// The location of an extreme that is a NaN: of the first or the last one, of either sign.
TYPED_TEST(ArithmeticTest, TheFirstOrLastNaNIsPreferred) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const auto prefers = [](Op op, T theirs, T mine) {
    Arithmetic arithmetic;
    const int type = static_cast<int>(type_of<T>);
    EXPECT_TRUE(Arithmetic::make(type, type, static_cast<int>(op), arithmetic).ok());
    char mine_bytes[sizeof(T)] = {}, theirs_bytes[sizeof(T)] = {};
    std::memcpy(mine_bytes, &mine, sizeof mine), std::memcpy(theirs_bytes, &theirs, sizeof theirs);
    return arithmetic.prefers(theirs_bytes, mine_bytes);
  };
  for (const Op op : {Op::first_max, Op::first_min, Op::last_max, Op::last_min}) {
    const bool last = op == Op::last_max || op == Op::last_min;
    EXPECT_TRUE(prefers(op, nan, 5));
    EXPECT_FALSE(prefers(op, 5, nan));
    EXPECT_EQ(prefers(op, nan, nan), last);
    EXPECT_EQ(prefers(op, -nan, nan), last);
    EXPECT_EQ(prefers(op, nan, -nan), last);
    EXPECT_EQ(prefers(op, T(0), -T(0)), last);
  }
}

}  // namespace
}  // namespace hiroba
