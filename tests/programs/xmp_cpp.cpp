// hiroba::coarray: elements, sections in every dimension, compound assignments of mixed types, started assignments,
// ranges of the standard library, structs.
#include <sms.h>

#include <complex>
#include <cstdio>
#include <hiroba.hpp>
#include <span>
#include <string>

using hiroba::all;
using hiroba::coarray;
using hiroba::range;
using hiroba::section;

namespace {

int failures = 0;

void expect(bool right, const char* what, std::source_location where = std::source_location::current()) {
  if (right) return;
  ++failures;
  std::fprintf(stderr, "%s:%u: image %d: %s\n", where.file_name(), where.line(), xmpc_this_image(), what);
}
#define EXPECT(condition) expect(condition, #condition)

struct body {
  double position[3];
  int kind;
};

void elements(int right, int left) {
  coarray<double, 2> a({10, 20}, "a");
  coarray<body, 1> bodies({5}, "bodies");
  const int me = xmpc_this_image();
  a[right](3, 4) = 10 + me;
  bodies[right](2) = body{{1, 2, 3}, me};
  xmp_sync_all(nullptr);
  EXPECT(a(3, 4) == 10 + left);
  EXPECT(a[right](3, 4) == 10 + me);
  EXPECT(bodies(2).kind == left && bodies(2).position[2] == 3);
  const body there = bodies[right](2);
  EXPECT(there.kind == me);
  xmp_sync_all(nullptr);
  a[right](3, 4) *= 2;
  a[right](3, 4) += 0.5f;
  xmp_sync_all(nullptr);
  EXPECT(a(3, 4) == 2 * (10 + left) + 0.5);
  a[right](0, 0) = a[left](3, 4);
  xmp_sync_all(nullptr);
  EXPECT(a(0, 0) == a[(left + xmp_num_images() - 1) % xmp_num_images()](3, 4));
  xmp_sync_all(nullptr);
}

void sections(int right, int left) {
  coarray<int, 3> a({4, 5, 6}, "a"), b({4, 5, 6}, "b");
  const int me = xmpc_this_image();
  for (int i = 0; i < 120; ++i) a.data()[i] = 1000 * me + i;
  xmp_sync_all(nullptr);
  b[right](1, range{1, 3}, range{5, 6, -1}) = a(2, range{0, 3}, all);
  xmp_sync_all(nullptr);
  for (int j = 0; j < 3; ++j)
    for (int k = 0; k < 6; ++k) EXPECT(b(1, 1 + j, 5 - k) == 1000 * left + 60 + 6 * j + k);
  b(3, all, all) = a[left](all, 0, 0).values()[3];
  EXPECT(b(3, 4, 5) == 1000 * left + 90);
  std::vector<int> column(4);
  hiroba::request r = hiroba::start(column, a[right](all, 2, 3));
  r.wait();
  for (int i = 0; i < 4; ++i) EXPECT(column[static_cast<size_t>(i)] == 1000 * right + 30 * i + 15);
  double sum = 1;
  hiroba::request summed(xmp_reduction_start(&sum, 1, XMP_DOUBLE, XMP_ADD, nullptr, "xmp_cpp.cpp"));
  summed.wait();
  EXPECT(sum == xmp_num_images());
  int plain[4] = {};
  section(std::span(plain)) = a[right](all, 2, 3);
  EXPECT(plain[3] == 1000 * right + 105);
  xmp_sync_all(nullptr);
  a[right](0, 0, range{0, 4}) += column;                            // a vector
  a[right](0, 1, range{0, 3, 2}) -= 7;                              // one value
  a[right](0, 2, range{0, 4}) <<= std::array<long, 4>{1, 2, 3, 4};  // of another type
  xmp_sync_all(nullptr);
  EXPECT(a(0, 1, 4) == 1000 * me + 10 - 7);
  EXPECT(a(0, 2, 3) == (1000 * me + 15) << 4);
  xmp_sync_all(nullptr);
}

void numbers(int right, int left) {
  using complex = std::complex<double>;
  coarray<complex, 1> z({8}, "z");
  coarray<unsigned char, 0> scalar({}, "scalar");
  z(range{0, 8}) = complex(1, xmpc_this_image());
  scalar() = 250;
  xmp_sync_all(nullptr);
  z[right](range{0, 4, 2}) *= complex(0, 1);
  scalar[right]() += 10;
  xmp_sync_all(nullptr);
  (void)left;
  EXPECT(z(6) == complex(-xmpc_this_image(), 1) && z(7) == complex(1, xmpc_this_image()));
  EXPECT(scalar() == 4);
  coarray<unsigned char, 0> moved = std::move(scalar);
  EXPECT(moved[right]() == 4);
  xmp_sync_all(nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  xmp_start(&argc, &argv);
  const int me = xmpc_this_image(), n = xmp_num_images(), right = (me + 1) % n, left = (me + n - 1) % n;
  elements(right, left);
  sections(right, left);
  numbers(right, left);
  xmp_reduction(&failures, 1, XMP_INT32, XMP_ADD, nullptr, "xmp_cpp.cpp");
  if (me == 0 && failures == 0) std::printf("right\n");
  return failures == 0 ? 0 : 1;
}
