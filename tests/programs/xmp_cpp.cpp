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

// Every contiguous range is a section, on both sides of =.
void ranges(int right, int left) {
  coarray<double, 2> a({4, 6}, "a");
  const double me = xmpc_this_image();
  const std::vector<double> four = {me, me + 1, me + 2, me + 3};
  std::array<double, 6> six = {};
  double plain[6] = {6, 5, 4, 3, 2, me};
  a[right](all, 0) = four;
  a[right](all, 1) = std::span(four).first(4);
  a[right](1, all) = plain;
  xmp_sync_all(nullptr);
  section{six} = a[right](1, all);
  EXPECT(a(2, 0) == left + 2 && a(3, 1) == left + 3 && a(1, 5) == left && six[0] == 6 && six[5] == me);
  xmp_sync_all(nullptr);
  hiroba::request put = hiroba::start(a[right](0, all), six), other = hiroba::start(a[right](2, all), a(3, all));
  put.wait();
  other = {};  // waits for what it had
  xmp_sync_all(nullptr);
  EXPECT(a(0, 0) == 6 && a(0, 5) == left);
  xmp_sync_all(nullptr);
}

void members(int right, int left) {
  coarray<body, 1> bodies({5}, "bodies");
  coarray<bool, 1> flags({9}, "flags");
  const int me = xmpc_this_image();
  bodies[right](2).member(&body::kind) = 7 + me;
  bodies[right](range{3, 2}).member(&body::kind) = me;
  flags[right](all) = me % 2 == 0;
  xmp_sync_all(nullptr);
  std::vector<int> kinds(5);
  section{kinds} = bodies[right](all).member(&body::kind);
  EXPECT(bodies(2).kind == 7 + left && bodies(4).kind == left && kinds[2] == 7 + me && kinds[3] == me);
  EXPECT(flags[right](all).values() == std::vector<bool>(9, me % 2 == 0));
  xmp_sync_all(nullptr);
}

void each_image(int right) {
  const int n = xmp_num_images(), me = xmpc_this_image();
  coarray<int, 1> a({3}, "a");
  for (int i = 0; i < 3; ++i) a(i) = 10 * me + i;
  xmp_sync_all(nullptr);
  std::vector<int> column(static_cast<size_t>(n)), everything(static_cast<size_t>(3 * n));
  section{column} = a[all](1);
  section{everything} = a[all](all);  // a row: those of image 0 first
  for (int i = 0; i < n; ++i)
    EXPECT(column[static_cast<size_t>(i)] == 10 * i + 1 && everything[static_cast<size_t>(3 * i + 2)] == 10 * i + 2);
  xmp_sync_all(nullptr);
  a[all](0) += 1;
  ++a[right](1);
  --a[right](2);
  xmp_sync_all(nullptr);
  EXPECT(a(0) == 10 * me + n && a(1) == 10 * me + 2 && a(2) == 10 * me + 1);
}

// Of the C calls, those whose macros C++ has to have for itself.
void dynamic() {
  xmp_coarray y = {};
  y.name = "y", y.element = sizeof(double), y.codims = 1;
  double* const data = static_cast<double*>(xmp_malloc(&y, 10, xmp_num_images()));
  XMP_WRITE(&y, xmpc_this_image(), data[3], 2.5, XMP_HERE);
  EXPECT(XMP_READ(&y, xmpc_this_image(), data[3], XMP_HERE) == 2.5 && y.extent[1] == xmp_num_images());
  xmp_free(&y);
}

// A name need not outlive the call.
void names() {
  const coarray<int, 1> a({3}, std::string("a name that is longer than fits into a string").c_str());
  EXPECT(std::string(a.descriptor()->name).starts_with("a name that is"));
}

}  // namespace

int main(int argc, char** argv) {
  xmp_start(&argc, &argv);
  const int me = xmpc_this_image(), n = xmp_num_images(), right = (me + 1) % n, left = (me + n - 1) % n;
  elements(right, left);
  sections(right, left);
  numbers(right, left);
  ranges(right, left);
  members(right, left);
  each_image(right);
  dynamic();
  names();
  xmp_reduction(&failures, 1, XMP_INT32, XMP_ADD, nullptr, "xmp_cpp.cpp");
  if (me == 0 && failures == 0) std::printf("right\n");
  const coarray<int, 1> left_over({3}, "left over");  // destroyed after the end, and so is a request
  int copy[3] = {};
  const hiroba::request waiting = hiroba::start(std::span(copy), left_over[right](all));
  xmp_finalize();
  return failures == 0 ? 0 : 1;
}
