#include <sms.h>

#include "check.h"

struct part {
  unsigned low : 5, high : 11;
  _Bool flag;
  long double wide;
};
struct all {
  signed char c;
  short s;
  unsigned u;
  int64_t l;
  float f;
  double d[2];
  struct part part;
  const char* text;
  union {
    int i;
    float f;
  } either;
};

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  struct all *x = sms_alloc(sizeof *x, 1, 0), copy;
  for (int i = 0; i < 30; i++) {
#pragma hiroba atomic
    {
      x->c = (signed char)(x->c + 1);
      x->s--;
      x->u |= 1u << (i % 30);
      x->l += x->u;
      x->f += 0.5f;
      x->d[1] -= (double)x->f;
      x->part.low++;
      x->part.high += 2;
      x->part.flag = !x->part.flag;
      x->part.wide += 1;
      x->text = x->c > 3 ? "many" : "few";
      x->either.f = 1;
      copy = *x;
      copy.d[0] = copy.part.flag ? x->either.i : 2;
      x->d[0] = copy.d[0];
    }
  }
  sms_barrier();
  const int n = 30 * sms_nprocs;
  const int end = verdict(
      (x->c != (signed char)n) + (x->s != -n) + (x->u != 0x3fffffff) + (x->f != (float)n / 2) +
      (x->part.low != (unsigned)n % 32) + (x->part.high != (unsigned)n * 2) + x->part.flag + (x->part.wide != n) +
      (x->d[0] != 2) + (x->d[1] != -n * (n + 1) / 4.0) + (copy.part.wide < 30));
  sms_shutdown();
  return end;
}
