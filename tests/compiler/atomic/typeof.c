#include "all.h"

struct s {
  int k;
} g = {3};
long total, row[3];

static long twice(long a) { return a * 2; }
static long called(long a) {
  typeof(1) one = 1;
  __typeof__(1UL) two = 2;
  typeof(twice(1)) three = 3;
  typeof(sizeof one) four = 4;
  typeof(1 ? 2 : 3) five = 5;
  typeof(twice(twice(a))) six = 6;
  typeof(-1) seven = 7;
  return a + one + (long)two + three + (long)four + five + six + seven;
}

int main(void) {
  __auto_type q = &g;
  __typeof__(g.k) r = 0;
#pragma hiroba atomic
  {
    __typeof__(g.k) t = q->k;
    __auto_type u = &q->k;
    *u += t;
    r += *u;
    __typeof__(*q) copy = *q;
    r += copy.k;
    typeof(1) one = 1;
    typeof(1 +
           1) both = 2;
    __typeof(twice(1)) more = called(one + both);
    r += (int)more;
    typeof(g)* whole = &g;
    whole->k += 1;
    __typeof__(total)*sum = &total, **way = &sum;
    **way += whole->k;
    typeof(total) (*brackets) = *way;
    if (*brackets > 0) {
      r += 1;
      typeof(r)* outer = &r;
      *outer += 1;
    }
    switch (r) {
      default:;
        typeof(row)* all = &row;
        (*all)[1] += 4;
    }
  }
  printf("%d %d %ld %ld\n", r, g.k, total, row[1]);
}
