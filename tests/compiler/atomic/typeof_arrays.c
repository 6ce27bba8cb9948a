#include "all.h"
typedef long R[3];
long row[3], m[2][3];
R named;
struct s { long x[3]; struct { long y[2]; } in; } st, sa[2];
static void f(typeof(row)* p, typeof(m[0]) q) {
  (*p)[0] += 1;
  q[1] += 1;
}
int main(void) {
  typeof(row) own = {5, 6, 7};
  typeof(&row) out = &row;
#pragma hiroba atomic
  {
    row[0] = 0;
    typeof(row)* all = &row;
    (*all)[1] += 4;
    typeof(m[0])* b = &m[1];
    (*b)[2] = 5;
    typeof(m)* c = &m;
    (*c)[1][1] += 6;
    typeof(named)* d = &named;
    (*d)[1] = 3;
    typeof(R)* e = &named;
    (*e)[2]++;
    typeof(st) *u = &st;
    u->x[1] += 3;
    u->in.y[1] -= 2;
    typeof(sa[0]) *w = sa;
    w[1].in.y[0] = 9;
    typeof(st.x)* v = &st.x;
    (*v)[2] = 8;
    typeof(*all)* t = all;
    (*t)[2] += 2;
    (*out)[2] += 1;
    own[1] += (*all)[2];
    f(&row, m[0]);
    typeof(row) copy;
    copy[0] = (*all)[0];
    row[0] += copy[0];
    for (typeof(row)* x = all; x; x = 0) (*x)[0] += 1;
  }
  printf("%ld %ld %ld, %ld %ld %ld, %ld %ld, %ld %ld %ld %ld, %ld\n", row[0], row[1], row[2], m[1][2], m[1][1], m[0][1],
         named[1], named[2], st.x[1], st.in.y[1], sa[1].in.y[0], st.x[2], own[1]);
}
