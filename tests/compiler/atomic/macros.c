#include "all.h"

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define SWAP(a, b)          \
  do {                      \
    __typeof__(a) t_ = (a); \
    (a) = (b);              \
    (b) = t_;               \
  } while (0)
int x = 3, y = 9, z;
int main(void) {
#pragma hiroba atomic
  {
    z = MAX(x, y);
    SWAP(x, y);
    z += x > y ? INT_MAX & 15 : 0;
    assert(z != 99);
    bool t = true;
    if (t && x != 0) z++;
  }
  printf("%d %d %d\n", x, y, z);
}
