#include "all.h"

typedef long T;
typedef struct {
  int a;
} S;
long a = 300;
void* v = &a;
S s = {4};
int main(void) {
  long r;
  T* t = &a;
#pragma hiroba atomic
  {
    r = (char)a + (T)*t + *(T*)v + (T)(a) + ((S*)&s)->a + (T)-a;
    *(T*)v = (T)&s != 0;
    r += (T)s.a;
    r -= (int)(T)*t;
  }
  printf("%ld %ld\n", r, a);
}
