// What hiroba.hpp and xmp.h refuse to compile, one CASE each; the message is what a user needs.
#include <hiroba.hpp>
#include <string>

using hiroba::all;
using hiroba::coarray;

void refused(coarray<int, 1>& a, coarray<double, 1>& b, std::vector<int>& v) {
#if CASE == 0
  a[0](all) = v;  // this is right
#elif CASE == 1
  coarray<std::string, 1> strings({4}, "strings");
#elif CASE == 2
  coarray<const int, 1> constants({4}, "constants");
#elif CASE == 3
  coarray<int, 8> deep({1, 1, 1, 1, 1, 1, 1, 1}, "deep");
#elif CASE == 4
  coarray<int, 1> copy = a;
#elif CASE == 5
  a[0](1.5) = 3;
#elif CASE == 6
  a[0](1, 2) = 3;
#elif CASE == 7
  a[0](all) = b(all);
#elif CASE == 8
  hiroba::start(a[0](all), std::vector<int>(4)).wait();  // gone before it is sent
#elif CASE == 9
  (void)XMP_READ(a.descriptor(), 0.5, a(0), XMP_HERE);
#endif
  (void)a, (void)b, (void)v;
}
