// A coarray of C++ whose own part is overrun, which option check must say.
#include <hiroba.hpp>

int main(int argc, char** argv) {
  xmp_init(&argc, &argv);
  {
    hiroba::coarray<double, 1> a({30}, "a");
    volatile double* const own = &a(0);
    if (sms_rank == sms_nprocs - 1) own[33] = 1;
    xmp_sync_all(nullptr);
  }
  xmp_finalize();
}
